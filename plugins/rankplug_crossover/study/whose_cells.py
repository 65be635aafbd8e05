"""The idea in a picture that needs no training: which combinations of the grid a paper has, and which none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankplug_crossover.study.protocol import BACKENDS, NOISY, PLAIN, Cell, cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = {"stochastic": "o", "xendcg": "s", "uniquerating": "D", "logrank": "^"}
COLUMNS = [(backend, noise) for backend in BACKENDS for noise in (PLAIN, NOISY)]


def rows() -> dict[str, list[Cell]]:
    """Return the cells of each loss; losses with cells of papers come first."""
    of_loss: dict[str, list[Cell]] = {}
    for cell in cells():
        of_loss.setdefault(cell.loss, []).append(cell)
    published = {loss: [cell.paper for cell in found if cell.paper] for loss, found in of_loss.items()}
    papers = list(MARKERS)
    order = sorted(of_loss, key=lambda loss: (papers.index(published[loss][0]) if published[loss] else 9, loss))
    return {loss: of_loss[loss] for loss in order}


def draw_grid() -> Figure:
    """Draw a row for each loss and a column for each backend, plain and with noise."""
    from rankplug.plotting import PALETTE, legend_below, new_figure

    grid = rows()
    marked: dict[str, list[tuple[int, int]]] = {paper: [] for paper in ("", *MARKERS)}
    for row, found in enumerate(grid.values()):
        for cell in found:
            marked[cell.paper].append((COLUMNS.index((cell.backend, cell.noise)), row))
    figure, axes = new_figure(width=6.4, height=1.4 + 0.17 * len(grid))
    label = f"new: {len(marked[''])} combinations of no paper"
    axes.plot(*zip(*marked.pop(""), strict=True), ".", color="#AAAAAA", markersize=3, label=label)
    for (paper, places), colour in zip(marked.items(), PALETTE, strict=False):
        label = f"{paper}: {len(places)}"
        axes.plot(*zip(*places, strict=True), MARKERS[paper], color=colour, markersize=7, linestyle="", label=label)
    names = {PLAIN: "plain", NOISY: "noise"}
    axes.set_xticks(range(len(COLUMNS)), [f"{backend}\n{names[noise]}" for backend, noise in COLUMNS], fontsize=8)
    axes.set_yticks(range(len(grid)), list(grid), fontsize=8)
    axes.set(xlim=(-0.6, len(COLUMNS) - 0.4), ylim=(len(grid) - 0.4, -0.6))
    axes.tick_params(length=0, top=False)
    legend_below(figure, columns=3)
    return figure
