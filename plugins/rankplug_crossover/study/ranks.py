"""The critical-difference diagram: which of the leading combinations can be told apart at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from rankplug.statistics import CriticalDifference, Unit, critical_difference
from rankplug.studies import OfficialFolds, Results
from rankplug_crossover.study.protocol import METRIC, paper_of, whole_grids
from rankplug_crossover.study.quality import heading, identities, validation_means

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEW, OWN = 7, 5
"""Numbers of new combinations and of the papers' own that are ranked."""


def leading(results: Results, group: str) -> list[str]:
    """Return the best new combinations and the best of the papers' own, both by validation data."""
    order = [str(model) for model in validation_means(results, group).index]
    new = [model for model in order if not paper_of(model)][:NEW]
    return new + [model for model in order if paper_of(model)][:OWN]


def ranked(results: Results, group: str) -> tuple[pd.DataFrame, CriticalDifference | None]:
    """Return the leading models with their mean ranks, and the critical difference between these.

    Blocks are what was repeated independently: the folds of a collection, or trials on data of their own. Queries of
    one fold or trial are answered by the same trained models and are no blocks. One block has no critical difference.
    """
    unit: Unit = "folds" if isinstance(results.design(group), OfficialFolds) else "trials"
    values = results.by_query(group, METRIC)[leading(results, group)].dropna()
    blocks = values.groupby(level=unit.removesuffix("s")).mean()
    ranks = (-blocks).rank(axis=1).mean()
    rows = pd.DataFrame({"collection": group, "model": ranks.index.astype(str), "mean rank": ranks.to_numpy()})
    return rows, critical_difference(blocks.to_numpy(), unit=unit) if len(blocks) > 1 else None


def draw(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw a critical difference diagram for each collection; bars join models whose difference is not significant."""
    from rankplug.plotting import PALETTE, draw_ranks, new_figure

    every = {group: ranked(results, group) for group in whole_grids(results)}
    drawn = {group: difference for group, (_, difference) in every.items() if difference is not None}
    figure = None
    if drawn:
        figure, axes = new_figure(1, len(drawn), width=8.4, height=2.9, squeeze=False)
        for panel, (group, difference) in zip(axes[:, 0], drawn.items(), strict=True):
            models = list(every[group][0]["model"])
            colours = {model: PALETTE[3] if paper_of(model) else PALETTE[0] for model in models}
            draw_ranks(panel, models, difference, colours, {"new": PALETTE[0], "a paper's own": PALETTE[3]})
            panel.set_title(
                f"{heading(results, group)}: mean rank by {METRIC.upper()} of {len(models)} models over"
                f" {difference.blocks} {difference.unit} (1 is best); Friedman's p = {difference.p_value:.2g}",
                fontsize=8.5,
                pad=18,
            )
    frames = []
    for group, (rows, difference) in every.items():
        critical = difference.critical_difference if difference else float("nan")
        rows = rows.assign(paper=rows["model"].map(paper_of), **{"critical difference": critical})
        frames.append(rows.merge(identities(results, group), on="model").sort_values("mean rank"))
    return pd.concat(frames, ignore_index=True), figure
