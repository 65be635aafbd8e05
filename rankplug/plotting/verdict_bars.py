"""Counts of verdicts as bars: how many claims of each study hold, fail, and are open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rankplug.plotting.figures import legend_below, new_figure
from rankplug.plotting.forest import LOOKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OTHERS = "#DDDDDD"
"""Colour of claims without a verdict."""
LIGHT = ("inconclusive",)
"""Verdicts on whose colour dark numbers are legible, as on that of claims without one."""


def draw_verdict_counts(counts: Mapping[str, Mapping[str, int]]) -> Figure:
    """Draw a bar for each row, of as many claims as it has, with their number in each part.

    Args:
        counts: of each row by its name, the claims by their verdict, all rows with the same verdicts in the same order.
    """
    figure, axes = new_figure(width=7.4, height=0.9 + 0.27 * len(counts))
    places, left = np.arange(len(counts)), np.zeros(len(counts))
    for word in next(iter(counts.values()), {}):
        several = np.array([of_row[word] for of_row in counts.values()])
        colour = LOOKS[word][0] if word in LOOKS else OTHERS
        axes.barh(places, several, 0.76, left, color=colour, edgecolor="w", linewidth=0.6, label=word)
        dark = word in LIGHT or word not in LOOKS
        for place, count, start in zip(places, several, left, strict=True):
            if count:
                own = "#111111" if dark else "#FFFFFF"
                axes.text(start + count / 2, place, str(count), ha="center", va="center", fontsize=8, color=own)
        left += several
    axes.set_yticks(places, list(counts))
    axes.set(xlabel="claims", ylim=(len(counts) - 0.4, -0.6))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    legend_below(figure, columns=5)
    return figure
