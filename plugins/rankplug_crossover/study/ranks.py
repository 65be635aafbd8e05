"""The critical-difference diagram: which of the leading combinations can be told apart at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from rankplug.studies import Results
from rankplug_crossover.critical_difference import CriticalDifference, critical_difference
from rankplug_crossover.study.protocol import METRIC, paper_of, whole_grids
from rankplug_crossover.study.quality import heading, identities, query_values, validation_means

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEW, OWN = 7, 5
"""Numbers of new combinations and of the papers' own that are ranked."""


def leading(results: Results, group: str) -> list[str]:
    """Return the best new combinations and the best of the papers' own, both by validation data."""
    order = [str(model) for model in validation_means(results, group).index]
    new = [model for model in order if not paper_of(model)][:NEW]
    return new + [model for model in order if paper_of(model)][:OWN]


def ranked(results: Results, group: str) -> tuple[list[str], CriticalDifference]:
    """Return the leading models, and their ranks within each test query."""
    models = leading(results, group)
    return models, critical_difference(query_values(results, group)[models].to_numpy(), unit="queries")


def draw(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw a critical difference diagram for each collection; bars join models whose difference is not significant."""
    import matplotlib.pyplot as plt

    from rankplug.plotting import STYLE

    groups = whole_grids(results)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(len(groups), 1, figsize=(8.4, 2.9 * len(groups)), squeeze=False)
    frames = []
    for panel, group in zip(axes[:, 0], groups, strict=True):
        models, found = ranked(results, group)
        _diagram(panel, models, found)
        panel.set_title(
            f"{heading(results, group)}: mean rank by {METRIC.upper()} within {found.blocks} test queries (1 is best);"
            f" Friedman's p = {found.p_value:.2g}",
            fontsize=8.5,
            pad=18,
        )
        rows = pd.DataFrame({"collection": group, "model": models, "mean rank": found.average_ranks})
        rows = rows.assign(paper=rows["model"].map(paper_of), **{"critical difference": found.critical_difference})
        frames.append(rows.merge(identities(results, group), on="model").sort_values("mean rank"))
    return pd.concat(frames, ignore_index=True), figure


def _diagram(axes: Axes, models: list[str], found: CriticalDifference) -> None:
    """Draw Demsar's diagram: a scale of ranks, names to either side, bars below it."""
    from rankplug.plotting import PALETTE

    order = sorted(range(len(models)), key=lambda model: found.average_ranks[model])
    half = (len(order) + 1) // 2
    low = found.average_ranks[order[0]]
    high = max(found.average_ranks[order[-1]], low + found.critical_difference)
    margin, lines = 0.75 * (high - low), -1.1 - 0.55 * len(found.groups)
    axes.plot([low, high], [0, 0], color="k", linewidth=1)
    step = 0.25 if high - low < 2.5 else 0.5 if high - low < 5 else 1.0
    for tick in [step * place for place in range(round(low / step), int(high / step) + 1)]:
        if low <= tick <= high:
            axes.plot([tick, tick], [0, 0.3], color="k", linewidth=0.8)
            axes.text(tick, 0.45, f"{tick:g}", ha="center", va="bottom", fontsize=7.5)
    for place, model in enumerate(order):
        left = place < half
        height = lines - 0.95 * (place if left else len(order) - 1 - place)
        end = low - 0.04 * margin if left else high + 0.04 * margin
        rank, colour = found.average_ranks[model], PALETTE[3] if paper_of(models[model]) else PALETTE[0]
        axes.plot([rank, rank, end], [0, height, height], color=colour, linewidth=0.8)
        name = f"{models[model]}  ({rank:.2f})" if left else f"({rank:.2f})  {models[model]}"
        axes.text(end, height, name, ha="right" if left else "left", va="center", fontsize=8, color=colour)
    for level, group in enumerate(found.groups):
        ranks = [found.average_ranks[model] for model in group]
        axes.plot([min(ranks), max(ranks)], 2 * [-0.5 - 0.55 * level], color="k", linewidth=3, solid_capstyle="butt")
    axes.plot([low, low + found.critical_difference], [2.1, 2.1], color="k", marker="|", linewidth=1)
    words = f"critical difference {found.critical_difference:.2f} (Nemenyi, level {found.level:g})"
    axes.text(low, 2.5, words, ha="left", va="bottom", fontsize=7.5)
    axes.plot([], [], color=PALETTE[0], label="new")
    axes.plot([], [], color=PALETTE[3], label="a paper's own")
    axes.legend(loc="upper right", fontsize=7.5, ncols=2, bbox_to_anchor=(1.0, 1.02))
    axes.set(xlim=(low - margin, high + margin), ylim=(lines - 0.95 * half, 3.4))
    axes.axis("off")
