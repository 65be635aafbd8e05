"""Pictures of the comparison: the heat map, the effect of noise, whose the cells are, and one to play with."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rankplug.data import Split, load
from rankplug.plotting import MARKERS, PALETTE, legend_below, new_figure
from rankplug.statistics import holm
from rankplug.studies import Results, interval_of, p_value_of
from rankplug.training import fit
from rankplug_crossover.study.comparisons import better_than_papers, grid, heading, quality
from rankplug_crossover.study.protocol import (
    BACKENDS,
    METRIC,
    NOISY,
    PLAIN,
    SIZES,
    Cell,
    cells,
    engine,
    paper_of,
    whole_grids,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COLUMNS = [(backend, noise) for backend in BACKENDS for noise in (PLAIN, NOISY)]
HEADS = [f"{backend}\n{'noise' if noise else 'plain'}" for backend, noise in COLUMNS]
KEY_OF_CELLS = "±: half of the 95 % interval; framed: a paper's own; *: leads the best of the papers"


def draw_heat_map(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw a panel for each collection; losses are sorted by their best cell, papers' own cells are framed."""
    frames = {group: quality(results, group) for group in whole_grids(results)}
    shown = {group: _sorted(grid(frame, "ours")) for group, frame in frames.items()}
    height = 1.6 + 0.36 * max(map(len, shown.values()))
    figure, axes = new_figure(len(frames), width=8.6, height=height, squeeze=False)
    for panel, (group, table) in zip(axes[0], shown.items(), strict=True):
        half = grid(frames[group].assign(half=(frames[group]["high"] - frames[group]["low"]) / 2), "half")
        better = better_than_papers(results, group)
        _panel(panel, table, half.loc[table.index], set(better.loc[better["better"], "model"]))
        queries = int(frames[group]["queries"].iloc[0])
        panel.set_title(f"{heading(results, group)}, {queries} test queries\n{KEY_OF_CELLS}", fontsize=9)
    joined = pd.concat([frame.assign(collection=group) for group, frame in frames.items()], ignore_index=True)
    return joined, figure


def _sorted(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.loc[cells.max(axis=1).sort_values(ascending=False, kind="stable").index]


def _make_legible(axes: Axes) -> None:
    """Write dark on light cells and white on dark ones, as the larger contrast by WCAG's formula asks for."""
    colours = np.asarray(axes.collections[0].get_facecolor(), np.float64)
    width = round(abs(np.diff(axes.get_xlim())[0]))
    for text in axes.texts:
        x, y = text.get_position()
        share = np.asarray(colours[int(y) * width + int(x)][:3])
        light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)
        text.set_color("#111111" if light > 0.18 else "#FFFFFF")


def _panel(axes: Axes, cells: pd.DataFrame, half: pd.DataFrame, better: set[str]) -> None:
    import seaborn
    from matplotlib.patches import Rectangle

    values, reach = cells.to_numpy(np.float64), half.to_numpy(np.float64)
    models = np.array([[Cell(str(loss), *column).model for column in COLUMNS] for loss in cells.index])
    texts = np.array(
        [
            f"{value:.1f} ± {own:.1f}{' *' if model in better else ''}"
            for value, own, model in zip(values.flat, reach.flat, models.flat, strict=True)
        ]
    ).reshape(values.shape)
    axes.set_facecolor("#DDDDDD")
    seaborn.heatmap(
        pd.DataFrame(values, index=cells.index),
        ax=axes,
        annot=texts,
        fmt="",
        annot_kws={"fontsize": 8},
        cmap="cividis",
        # A few that fail altogether would leave one colour for all the others.
        vmin=float(np.nanquantile(values, 0.05)),
        vmax=float(np.nanmax(values)),
        cbar_kws={"label": f"{METRIC.upper()} (%)", "shrink": 0.5, "pad": 0.02, "extend": "min"},
    )
    _make_legible(axes)
    axes.grid(visible=False)
    for row, column in np.argwhere(np.isnan(values)):
        axes.text(column + 0.5, row + 0.5, "not run", ha="center", va="center", fontsize=8, color="#333333")
    for row, column in np.argwhere([[bool(paper_of(model)) for model in line] for line in models]):
        if not np.isnan(values[row, column]):
            corner = (column + 0.03, row + 0.04)
            axes.add_patch(Rectangle(corner, 0.94, 0.92, fill=False, edgecolor="#D55E00", linewidth=1.8))
    axes.set_xticks(np.arange(values.shape[1]) + 0.5, HEADS)
    axes.tick_params(length=0, labelsize=8, rotation=0)
    axes.set(xlabel="backend, and whether scores get Gumbel noise", ylabel="loss")
    for border in range(2, 2 * len(BACKENDS), 2):
        axes.axvline(border, color="w", linewidth=2.5)


def noise_frame(results: Results, group: str) -> pd.DataFrame:
    """Compare noisy with plain losses by loss and backend; two-sided tests by the data's design, Holm over all."""
    models = set(results.models(group))
    rows = []
    for cell in cells():
        noisy, plain = cell.model, Cell(cell.loss, cell.backend).model
        if cell.noise != NOISY or not {noisy, plain} <= models:
            continue
        sample = results.difference(group, METRIC, noisy, plain)
        interval, p = interval_of(sample), p_value_of(sample)
        rows.append(
            {"collection": group, "loss": cell.loss, "backend": cell.backend, "model": noisy}
            | {"difference": 100 * interval.point}
            | {"low": 100 * interval.low, "high": 100 * interval.high, "p": 2 * min(p, 1 - p), "paper": cell.paper}
            | {"combination": results.combinations_of(group, noisy)}
        )
    frame = pd.DataFrame(rows)
    return frame.assign(**{"p (Holm)": holm(frame["p"]).p_values})


def draw_noise_effect(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw a column for each backend and a row for each loss, with a row of panels for each collection."""
    from matplotlib.lines import Line2D

    groups = whole_grids(results)
    frames = {group: noise_frame(results, group) for group in groups}
    losses = list(dict.fromkeys(next(iter(frames.values()))["loss"]))
    size = {"width": 2.3, "height": 0.9 + 0.21 * len(losses)}
    figure, axes = new_figure(len(BACKENDS), len(groups), sharex="row", sharey=True, squeeze=False, **size)
    for row, group in zip(axes, groups, strict=True):
        for panel, backend in zip(row, BACKENDS, strict=True):
            shown = frames[group][frames[group]["backend"] == backend].set_index("loss").reindex(losses)
            for index, one in enumerate(shown.itertuples()):
                colour = PALETTE[3] if one.paper else PALETTE[0]
                panel.plot([one.low, one.high], [index, index], color=colour, linewidth=1.2)
                panel.plot(one.difference, index, MARKERS[colour], color=colour, markersize=3.5)
            panel.axvline(0, color="k", linewidth=0.7)
            panel.set_yticks(np.arange(len(losses)), losses, fontsize=8)
            panel.set_title(backend, fontsize=9)
            panel.set_xlabel(f"noise minus plain,\n{METRIC.upper()} points", fontsize=8)
        row[0].set_ylim(len(losses) - 0.5, -0.5)
        row[0].set_ylabel(f"loss, {heading(results, group)}")
    key = {"new, with 95 % interval": PALETTE[0], "a paper's own comparison": PALETTE[3]}
    handles = [Line2D([], [], color=colour, marker=MARKERS[colour], markersize=3.5) for colour in key.values()]
    figure.legend(handles, list(key), loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return pd.concat(frames.values(), ignore_index=True), figure


MARKS = {"stochastic": "o", "xendcg": "s", "uniquerating": "D", "logrank": "^"}


def cells_by_loss() -> dict[str, list[Cell]]:
    """Return the cells of each loss; losses with cells of papers come first."""
    of_loss: dict[str, list[Cell]] = {}
    for cell in cells():
        of_loss.setdefault(cell.loss, []).append(cell)
    published = {loss: [cell.paper for cell in row if cell.paper] for loss, row in of_loss.items()}
    papers = list(MARKS)
    order = sorted(of_loss, key=lambda loss: (papers.index(published[loss][0]) if published[loss] else 9, loss))
    return {loss: of_loss[loss] for loss in order}


def draw_grid() -> Figure:
    """Draw a row for each loss and a column for each backend, plain and with noise."""
    grid = cells_by_loss()
    marked: dict[str, list[tuple[int, int]]] = {paper: [] for paper in ("", *MARKS)}
    for row, of_loss in enumerate(grid.values()):
        for cell in of_loss:
            marked[cell.paper].append((COLUMNS.index((cell.backend, cell.noise)), row))
    figure, axes = new_figure(width=6.4, height=1.4 + 0.17 * len(grid))
    label = f"new: {len(marked[''])} combinations of no paper"
    axes.plot(*zip(*marked.pop(""), strict=True), ".", color="#AAAAAA", markersize=3, label=label)
    for (paper, places), colour in zip(marked.items(), PALETTE, strict=False):
        label = f"{paper}: {len(places)}"
        axes.plot(*zip(*places, strict=True), MARKS[paper], color=colour, markersize=7, linestyle="", label=label)
    axes.set_xticks(range(len(COLUMNS)), HEADS, fontsize=8)
    axes.set_yticks(range(len(grid)), list(grid), fontsize=8)
    axes.set(xlim=(-0.6, len(COLUMNS) - 0.4), ylim=(len(grid) - 0.4, -0.6))
    axes.tick_params(length=0, top=False)
    legend_below(figure, columns=3)
    return figure


@functools.cache
def few_lists() -> Split:
    """Make data that are small enough to train on in a moment."""
    return load("synthetic[shape=ohsumed,queries=120,documents=15]", seed=0, transforms=["drop_empty", "query_minmax"])


def curves(loss: str, backend: str, beta: float) -> pd.DataFrame:
    """Return validation NDCG@5 in percent, a row for each iteration: plain, and with noise of scale ``beta``."""
    train, valid, _ = few_lists()
    parts = engine(backend, SIZES["quick"])
    columns = {}
    for name, sampler in (("plain", None), ("noise", f"gumbel[beta={beta},samples=8]")):
        model = fit(parts["backend"], scorer=parts["scorer"], loss=loss, sampler=sampler, train=train, valid=valid)
        columns[name] = 100 * model.curve.frame().set_index("iteration")[f"valid {METRIC}"]
    return pd.DataFrame(columns)


def draw_try(loss: str = "xe_ndcg", backend: str = "lightgbm", beta: float = 0.25) -> Figure:
    """Draw both learning curves."""
    frame = curves(loss, backend, beta)
    figure, axes = new_figure(width=5.6, height=3.0)
    labels = {"plain": loss, "noise": f"with noise, beta = {beta:g}"}
    for (name, label), colour in zip(labels.items(), PALETTE, strict=False):
        axes.plot(frame.index + 1, frame[name], color=colour, marker="o", markersize=2.5, label=label)
    axes.set(xlabel=f"iteration of {backend}", ylabel=f"validation {METRIC.upper()} (%)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
