"""The critical-difference diagram: which of the leading combinations can be told apart at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from rankplug.statistics import CriticalDifference, critical_difference
from rankplug.studies import Results
from rankplug_crossover.study.protocol import METRIC, paper_of, whole_grids
from rankplug_crossover.study.quality import heading, identities, query_values, validation_means

if TYPE_CHECKING:
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
    from rankplug.plotting import PALETTE, draw_ranks, new_figure

    groups = whole_grids(results)
    figure, axes = new_figure(1, len(groups), width=8.4, height=2.9, squeeze=False)
    frames = []
    for panel, group in zip(axes[:, 0], groups, strict=True):
        models, difference = ranked(results, group)
        colours = {model: PALETTE[3] if paper_of(model) else PALETTE[0] for model in models}
        draw_ranks(panel, models, difference, colours, {"new": PALETTE[0], "a paper's own": PALETTE[3]})
        panel.set_title(
            f"{heading(results, group)}: mean rank by {METRIC.upper()} within {difference.blocks} test queries"
            f" (1 is best); Friedman's p = {difference.p_value:.2g}",
            fontsize=8.5,
            pad=18,
        )
        rows = pd.DataFrame({"collection": group, "model": models, "mean rank": difference.average_ranks})
        rows = rows.assign(paper=rows["model"].map(paper_of), **{"critical difference": difference.critical_difference})
        frames.append(rows.merge(identities(results, group), on="model").sort_values("mean rank"))
    return pd.concat(frames, ignore_index=True), figure
