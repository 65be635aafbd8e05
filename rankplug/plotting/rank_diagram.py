"""The critical-difference diagram: which of several models can be told apart at all, by their mean ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rankplug.plotting.figures import PALETTE
from rankplug.plotting.markers import MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankplug.statistics import CriticalDifference


def draw_ranks(
    axes: Axes,
    models: Sequence[str],
    difference: CriticalDifference,
    colours: Mapping[str, str] | None = None,
    legend: Mapping[str, str] | None = None,
) -> None:
    """Draw Demsar's diagram: a scale of ranks, names to either side, and bars that join what is not told apart.

    Args:
        axes: to draw on; they show nothing else.
        models: in the order of the ranks.
        difference: ranks of the models, and what tells them apart.
        colours: model -> its colour; the palette's first where none is given.
        legend: words -> colour.
    """
    order = sorted(range(len(models)), key=lambda model: difference.average_ranks[model])
    half = (len(order) + 1) // 2
    low = difference.average_ranks[order[0]]
    high = max(difference.average_ranks[order[-1]], low + difference.critical_difference)
    margin, lines = 0.75 * (high - low), -1.1 - 0.55 * len(difference.groups)
    axes.plot([low, high], [0, 0], color="k", linewidth=1)
    span = high - low
    step = 0.25 if span < 2.5 else 0.5 if span < 5 else 1.0 if span < 20 else 5.0 * math.ceil(span / 75)
    for tick in [step * position for position in range(round(low / step), int(high / step) + 1)]:
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
