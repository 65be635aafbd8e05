"""Models of the four papers, tuned by one protocol on several collections, and their ranks over the collections.

Every model draws equally many hyper-parameters at random, those of an engine the same ones. In each fold validation
data choose the draw, by the mean over trials, and in each trial the epoch or number of trees; the test part is looked
at once. Ranks are taken within each collection and compared over the collections, as Demsar (2006) asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from rankplug.statistics import CriticalDifference, critical_difference
from rankplug.studies import Results
from rankplug_crossover.study.protocol import METRIC, TUNED, TUNED_MODELS, paper_of
from rankplug_crossover.study.sizes import SIZES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("collection", "model", "paper", "ours", "half width", "draws", "trainings", "combination")


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return each tuned model's test NDCG@5 in percent on each collection, with its budget; empty where not run."""
    rows = []
    for group in results.groups(kind=TUNED):
        runs = results.runs[group]
        for model in results.models(group):
            mean = results.mean(group, METRIC, model, scale=100)
            rows.append(
                {
                    "collection": results.place(group),
                    "model": model,
                    "paper": paper_of(TUNED_MODELS[model].model),
                    "ours": mean.point,
                    "half width": mean.half_width,
                    "draws": SIZES[results.profile].draws,
                    "trainings": len(runs.folds) * runs.trials * SIZES[results.profile].draws,
                    "combination": results.combinations_of(group, model),
                }
            )
    return pd.DataFrame(rows, columns=list(COLUMNS)), None


def ranked(results: Results) -> tuple[list[str], CriticalDifference] | None:
    """Return the models and their ranks, with collections as blocks; none where there are not two collections."""
    groups = results.groups(kind=TUNED)
    if len(groups) < 2:
        return None
    models = results.models(groups[0])
    quality = [results.trials(group, METRIC)[models].mean().to_numpy() for group in groups]
    return models, critical_difference(quality, unit="data sets")


def ranks(results: Results) -> tuple[pd.DataFrame, Figure | None]:
    """Draw the critical difference diagram over collections; bars join models that are not told apart."""
    critical = ranked(results)
    if critical is None:
        return pd.DataFrame(columns=["model", "mean rank", "critical difference", "combination"]), None

    from rankplug.plotting import PALETTE, draw_ranks, new_figure

    models, difference = critical
    groups = results.groups(kind=TUNED)
    papers = {model: paper_of(TUNED_MODELS[model].model) for model in models}
    paints = dict(zip(dict.fromkeys(papers.values()), PALETTE, strict=False))
    figure, axes = new_figure(width=8.4, height=2.9)
    draw_ranks(axes, models, difference, {model: paints[papers[model]] for model in models}, paints)
    axes.set_title(
        f"mean rank by {METRIC.upper()} over {len(groups)} collections (1 is best), all equally tuned;"
        f" Friedman's p = {difference.p_value:.2g}",
        fontsize=8.5,
        pad=18,
    )
    frame = pd.DataFrame({"model": models, "mean rank": difference.average_ranks})
    behind = [" ".join(results.combinations_of(group, model) for group in groups) for model in models]
    frame["critical difference"] = difference.critical_difference
    frame["combination"] = behind
    return frame.sort_values("mean rank", ignore_index=True), figure
