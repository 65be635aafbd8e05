"""Charts: learning curves, intervals, forests of claims, rank diagrams and counts of verdicts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.plotting._figures import MARKERS, PALETTE, colour, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from rankplug.statistics import CriticalDifference


def draw_curves(
    axes: Axes,
    curves: pd.DataFrame,
    models: Iterable[str],
    label: str = "{model}",
    *,
    over: str = "trial",
    widen: float = 1.0,
    colours: Mapping[str, str] | None = None,
    **options: Any,
) -> None:
    """Draw mean learning curves with 95 % t intervals.

    Where early stopping ended some trainings before others, a thin dashed line goes on to the longest, in which a
    stopped one stays at the best it had, which is the model it became.

    Args:
        axes: to draw on.
        curves: rows of :meth:`rankplug.studies.Results.curves`.
        models: in the order of the legend.
        label: of the legend.
        over: what the intervals are over, ``trial`` or ``fold``; the other is averaged.
        widen: factor on the intervals.
        colours: that the study gives its models.
        options: of the lines.
    """
    for model in models:
        own = curves[curves["model"] == model]
        of_runs = own.pivot_table(index="iteration", columns=["trial", "fold"], values="value", observed=True)
        if of_runs.empty:
            continue
        all_go = of_runs.notna().all(axis=1)
        whole = of_runs[all_go].T.groupby(level=over).mean().T
        draw_mean(axes, whole, colour(model, colours), widen=widen, label=label.format(model=model), **options)
        if not all_go.all():
            went_on = of_runs.fillna(of_runs.max().to_dict()).mean(axis=1)[~all_go]
            axes.plot(went_on, color=colour(model, colours), linewidth=0.8, linestyle=(0, (2, 2)))


def draw_mean(axes: Axes, of_trials: pd.DataFrame, colour: str, *, widen: float = 1.0, **options: Any) -> None:
    """Draw a line through the rows' means, with their 95 % t intervals as a band.

    Args:
        axes: to draw on.
        of_trials: its index is the horizontal axis, each column a trial.
        colour: of the line and the band.
        widen: factor on the intervals.
        options: of the line.
    """
    from rankplug.statistics import t_interval

    intervals = [t_interval(row, unit="trials") for row in of_trials.to_numpy()]
    axes.plot(of_trials.index, [interval.point for interval in intervals], color=colour, **options)
    if of_trials.shape[1] > 1:
        low, high = (
            [interval.point + side * widen * interval.half_width for interval in intervals] for side in (-1, 1)
        )
        draw_band(axes, of_trials.index, low, high, colour)


def draw_band(axes: Axes, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str) -> None:
    """Draw a band of intervals with its edges, so that overlapping bands can be distinguished."""
    from matplotlib.colors import to_rgba

    axes.fill_between(x, low, high, facecolor=to_rgba(colour, 0.12), edgecolor=to_rgba(colour, 0.6), linewidth=0.6)


def draw_interval(
    axes: Axes, position: float, low: float, high: float, limits: tuple[float, float], *, vertical: bool, **options: Any
) -> None:
    """Draw an interval as far as the axis goes; where it goes on, it ends in an arrowhead.

    Args:
        axes: to draw on.
        position: on the other axis.
        low: lower end; nothing is drawn where it is nan.
        high: upper end.
        limits: of the axis that the interval lies along.
        vertical: whether that is the vertical one.
        options: of the line.
    """
    if not (np.isfinite(low) and np.isfinite(high)):
        return
    ends = np.clip([low, high], *limits)
    axes.plot(*([position, position], ends) if vertical else (ends, [position, position]), **options)
    cut = (low < limits[0], high > limits[1])
    for end, head, goes_on in zip(ends, "v^" if vertical else "<>", cut, strict=True):
        if goes_on:
            place = (position, end) if vertical else (end, position)
            axes.plot(*place, head, color=options.get("color"), markersize=4, clip_on=False)


LOOKS: dict[str, tuple[str, str]] = {
    "holds": (PALETTE[2], "o"),
    "fails": (PALETTE[3], "s"),
    "no difference": (PALETTE[7], "D"),
    "inconclusive": (PALETTE[1], "o"),
}
"""Colour and marker of each verdict; the words stand beside them."""
UNJUDGED = "#999999"
FARTHEST = 6.0
"""Margins to either side that are drawn; an arrow says that something lies beyond."""
MOST_BARS = 6
WIDTH_OF_WORDS = 56
"""Letters in a line of a claim's sentence."""


@dataclass(frozen=True)
class ForestCell:
    """A verdict and what it rests on.

    Args:
        verdict: its word.
        bars: differences with the ends of their intervals in units of the margin, the decisive one first; none for
            what is exact or was not judged.
        note: what is said where there are no bars.
    """

    verdict: str
    bars: tuple[tuple[float, float, float], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class ForestRow:
    """A claim with a cell for each panel that has it.

    Args:
        words: its text.
        cells: by the name of the panel.
    """

    words: str
    cells: Mapping[str, ForestCell]


def draw_forest(blocks: Mapping[str, Sequence[ForestRow]]) -> Figure:
    """Draw a row for each claim and a panel for each kind of data, in blocks such as papers.

    Args:
        blocks: rows by the heading above them, which may be empty.
    """
    panels = list(dict.fromkeys(panel for rows in blocks.values() for row in rows for panel in row.cells))
    places, headings, y = [], {}, 0.0
    for heading, rows in blocks.items():
        if heading:
            headings[y] = textwrap.shorten(heading, 80, placeholder=" ...")
            y += 1.0
        for row in rows:
            lines = textwrap.wrap(row.words, WIDTH_OF_WORDS, break_on_hyphens=False) or [""]
            height = max(1.0, 0.62 * len(lines))
            places.append((y + height / 2 - 0.5, "\n".join(lines), row))
            y += height
    count = max(len(panels), 1)
    width = (4.2 + 3.6 * count) / count
    figure, axes = new_figure(count, width=width, height=0.9 + 0.27 * y, sharey=True, squeeze=False)
    for panel, name in zip(axes[0], panels, strict=False):
        _draw_panel(panel, name, {at: row.cells[name] for at, _, row in places if name in row.cells})
        panel.set_ylim(y - 0.3, -0.9)
        for at in headings:
            panel.axhspan(at - 0.5, at + 0.5, color="#EEEEEE", zorder=0)
    # Headings are ticks too, in bold.
    ticks = dict(sorted({**headings, **{at: words for at, words, _ in places}}.items()))
    axes[0][0].set_yticks(list(ticks), list(ticks.values()), fontsize=8)
    for at, label in zip(ticks, axes[0][0].get_yticklabels(), strict=True):
        label.set(
            parse_math=all(map(_can_be_set, label.get_text().splitlines())),
            fontweight="bold" if at in headings else "normal",
        )
    return figure


def _can_be_set(line: str) -> bool:
    """Return whether what stands between the dollars of a line is a formula, if there is anything."""
    from matplotlib.mathtext import MathTextParser

    try:
        MathTextParser("path").parse(line)
    except ValueError:
        return False
    return True


def _draw_panel(axes: Axes, name: str, cells: Mapping[float, ForestCell]) -> None:
    axes.axvspan(-1, 1, color="#E4EEF5", zorder=0)
    axes.axvline(0, color="k", linewidth=0.7)
    axes.set_xlim(-FARTHEST * 1.05, FARTHEST * 1.75)
    axes.set_xticks([-6, -4, -2, -1, 0, 1, 2, 4, 6])
    axes.tick_params(axis="x", labelsize=8)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("difference in margins; the band is less than one", fontsize=8)
    axes.set_title(name, fontsize=8.5, parse_math=False)
    for at, cell in cells.items():
        colour, marker = LOOKS.get(cell.verdict, (UNJUDGED, ""))
        bars = cell.bars[:MOST_BARS]
        heights = [at] if len(bars) == 1 else np.linspace(at - 0.3, at + 0.3, len(bars))
        for row, (height, (effect, low, high)) in enumerate(zip(heights, bars, strict=True)):
            # The decisive interval is thick and at the top of its row.
            look: dict[str, Any] = {"color": colour, "alpha": 0.45 if row else 1.0}
            if low <= FARTHEST and high >= -FARTHEST:
                width = 0.8 if row else 1.8
                axes.plot(np.clip([low, high], -FARTHEST, FARTHEST), [height] * 2, linewidth=width, zorder=2, **look)
            for head, end, goes_on in (("<", -FARTHEST, low < -FARTHEST), (">", FARTHEST, high > FARTHEST)):
                if goes_on:
                    axes.plot(end, height, head, markersize=3.5, **look)
            if abs(effect) <= FARTHEST:
                face = "w" if cell.verdict == "inconclusive" else colour
                size = 2.2 if row else 4.2
                axes.plot(effect, height, marker, markerfacecolor=face, markersize=size, zorder=3, **look)
        if cell.note:
            axes.text(0, at, cell.note, ha="center", va="center", fontsize=8, color=colour, parse_math=False)
        axes.text(FARTHEST * 1.08, at, cell.verdict, ha="left", va="center", fontsize=8, color=colour)


def draw_ranks(
    axes: Axes,
    models: Sequence[str],
    difference: CriticalDifference,
    colours: Mapping[str, str] | None = None,
    legend: Mapping[str, str] | None = None,
) -> None:
    """Draw Demsar's diagram: a scale of ranks, names to either side, and bars that join models that do not differ.

    Args:
        axes: to draw on; they show nothing else.
        models: in the order of the ranks.
        difference: ranks of the models and their critical difference.
        colours: model -> its colour; by default the palette's first.
        legend: words -> colour.
    """
    from matplotlib.ticker import MaxNLocator

    order = sorted(range(len(models)), key=lambda model: difference.average_ranks[model])
    half = (len(order) + 1) // 2
    low = difference.average_ranks[order[0]]
    high = max(difference.average_ranks[order[-1]], low + difference.critical_difference)
    margin, lines = 0.75 * (high - low), -1.1 - 0.55 * len(difference.groups)
    axes.plot([low, high], [0, 0], color="k", linewidth=1)
    for tick in MaxNLocator(10, steps=(1, 2.5, 5, 10)).tick_values(low, high):
        if low <= tick <= high:
            axes.plot([tick, tick], [0, 0.3], color="k", linewidth=0.8)
            axes.text(tick, 0.45, f"{tick:g}", ha="center", va="bottom", fontsize=8)
    for row, model in enumerate(order):
        left = row < half
        height = lines - 0.95 * (row if left else len(order) - 1 - row)
        end = low - 0.04 * margin if left else high + 0.04 * margin
        rank, colour = difference.average_ranks[model], (colours or {}).get(models[model], PALETTE[0])
        axes.plot([rank, rank, end], [0, height, height], color=colour, linewidth=0.8)
        if legend:
            axes.plot([rank], [height], MARKERS.get(colour, ""), color=colour, markersize=4)
        name = f"{models[model]}  ({rank:.2f})" if left else f"({rank:.2f})  {models[model]}"
        # A name is what its authors wrote, formulas that nobody can set included.
        side = "right" if left else "left"
        axes.text(end, height, name, ha=side, va="center", fontsize=8, color=colour, parse_math=False)
    for level, group in enumerate(difference.groups):
        ranks = [difference.average_ranks[model] for model in group]
        axes.plot([min(ranks), max(ranks)], 2 * [-0.5 - 0.55 * level], color="k", linewidth=3, solid_capstyle="butt")
    axes.plot([low, low + difference.critical_difference], [2.1, 2.1], color="k", marker="|", linewidth=1)
    words = f"critical difference {difference.critical_difference:.2f} (Nemenyi, level {difference.level:g})"
    axes.text(low, 2.5, words, ha="left", va="bottom", fontsize=8)
    for word, colour in (legend or {}).items():
        axes.plot([], [], color=colour, marker=MARKERS.get(colour, ""), markersize=4, linewidth=0.8, label=word)
    if legend:
        axes.legend(loc="upper right", fontsize=8, ncols=2, bbox_to_anchor=(1.0, 1.02))
    axes.set(xlim=(low - margin, high + margin), ylim=(lines - 0.95 * half, 3.4))
    axes.axis("off")
