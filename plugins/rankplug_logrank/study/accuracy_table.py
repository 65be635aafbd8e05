"""Figure 3: accuracy on test data in four sub-tables, and in how many of their cells a family of models wins."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rankplug.statistics import t_interval
from rankplug.studies import Results
from rankplug_logrank.study.protocol import BASELINES, FAMILIES, GAINS, MEASURES, MODELS, QUOTED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MICROAVERAGE = "microaverage"
SHADES = ("#A8DDB5", "#FFF2AE", "#E6D3B3")
"""Of the best three in a column, as in the paper: green, yellow, tan."""


def of_queries(results: Results, group: str, metric: str) -> pd.DataFrame:
    """Values of a metric: a row for each test query of each fold, averaged over the trials, a column for each model."""
    rows = results.queries(group, metric)
    values = rows.groupby(["model", "fold", "query"], observed=True)["value"].mean().unstack("model")
    return values.dropna()


def all_queries(results: Results, metric: str) -> pd.DataFrame:
    """The test queries of all data sets; their mean is a microaverage."""
    import pandas as pd

    groups = results.groups("accuracy")
    return pd.concat({group: of_queries(results, group, metric) for group in groups}, names=["group"])


def accuracy_frame(results: Results) -> pd.DataFrame:
    """A row for each measure, column of Figure 3 and model.

    ``mean`` is that over the folds; the microaverage, where there are several data sets, weighs them by their test
    queries. ``half width`` is that of the 95 % t interval over queries.
    """
    import pandas as pd

    rows = []
    for measure, metric in MEASURES.items():
        sets = {}
        for group in results.groups("accuracy"):
            queries, trials = of_queries(results, group, metric), results.trials(group, metric)
            sets[group] = (len(queries), trials.mean())
            for model in results.models(group):
                width = t_interval(queries[model], unit="queries").half_width
                column = group.removeprefix("accuracy ")
                rows.append((measure, column, model, float(trials[model].mean()), width, len(queries)))
        if len(sets) < 2:
            continue
        pooled = all_queries(results, metric)
        weights = [count for count, _ in sets.values()]
        for model in pooled.columns:
            mean = float(np.average([means[model] for _, means in sets.values()], weights=weights))
            width = t_interval(pooled[model], unit="queries").half_width
            rows.append((measure, MICROAVERAGE, model, mean, width, len(pooled)))
    return pd.DataFrame(rows, columns=["measure", "column", "model", "mean", "half width", "queries"])


def sub_table(measure: str) -> Callable[[Results], tuple[pd.DataFrame, Figure]]:
    """One of the four, with the best three of each column shaded."""

    def draw(results: Results) -> tuple[pd.DataFrame, Figure]:
        frame = accuracy_frame(results)
        frame = frame[frame["measure"] == measure].reset_index(drop=True)
        return frame, draw_shaded(frame)

    return draw


def draw_shaded(frame: pd.DataFrame) -> Figure:
    """A picture of a sub-table: mean, and half of its interval in grey."""
    from matplotlib.patches import Rectangle

    from rankplug.plotting import new_figure

    columns, models = list(dict.fromkeys(frame["column"])), [m for m in MODELS if m in set(frame["model"])]
    figure, axes = new_figure(width=1.6 + 1.25 * len(columns), height=0.5 + 0.235 * len(models))
    for x, column in enumerate(columns):
        cells = frame[frame["column"] == column].set_index("model").loc[models]
        places = cells["mean"].rank(ascending=False, method="min")
        axes.text(x + 0.5, -0.5, f"{column}\n{cells['queries'].iloc[0]} queries", ha="center", va="center", fontsize=8)
        for y, model in enumerate(models):
            if places[model] <= len(SHADES):
                shade = SHADES[int(places[model]) - 1]
                axes.add_patch(Rectangle((x + 0.02, y + 0.04), 0.96, 0.92, facecolor=shade, linewidth=0))
            weight = "bold" if places[model] == 1 else "normal"
            mean, width = cells.loc[model, ["mean", "half width"]]
            axes.text(x + 0.5, y + 0.5, f"{mean:.3f}", ha="right", va="center", fontsize=8.5, weight=weight)
            axes.text(x + 0.53, y + 0.5, f"± {width:.3f}", ha="left", va="center", fontsize=7, color="#555555")
    for y, model in enumerate(models):
        axes.text(-0.05, y + 0.5, model, ha="right", va="center", fontsize=8.5)
    blocks = (len(QUOTED), len(BASELINES), 1, *(len(GAINS) for _ in FAMILIES))
    for y in itertools.accumulate(blocks, initial=0):
        axes.plot([-1.05, len(columns)], [y, y], color="#BBBBBB", linewidth=0.6)
    axes.set(xlim=(-1.05, len(columns)), ylim=(len(models) + 0.1, -1))
    axes.axis("off")
    return figure


def family(name: str) -> list[str]:
    """The models of a family, one for each gain."""
    return [f"{name}_{gain}" for gain in GAINS]


RIVALS = {
    ("MLE", "beats all baselines"): (["MLE"], [*BASELINES]),
    ("ExpGain", "is the best"): (family("ExpGain"), [*BASELINES]),
    ("ExpGain", "beats MLE"): (family("ExpGain"), ["MLE"]),
    ("ConvexLoss", "is the absolute best"): (
        family("Convex"),
        [*BASELINES, "MLE", *(one for name in FAMILIES if name != "Convex" for one in family(name))],
    ),
    ("ConvexLoss", "beats MLE"): (family("Convex"), ["MLE"]),
    ("ConvexLoss", "beats ExpGain"): (family("Convex"), family("ExpGain")),
    ("ConvexLoss_NDCG", "beats ExpGain_NDCG"): (["Convex_NDCG"], ["ExpGain_NDCG"]),
}
"""Who beats whom; of several models the best in a cell counts. That ExpGain and ConvexLoss are both "the best" in 26 of
32 cells can only mean two comparisons: ExpGain is here set against the baselines, ConvexLoss against all others. The
baselines are those in all columns of the paper, without BoltzRank and ListNet."""


def win_counts(results: Results) -> tuple[pd.DataFrame, None]:
    """Cells won, as the text of Section 5.2 counts them, published and ours."""
    import pandas as pd

    cells = accuracy_frame(results).pivot(index=["column", "measure"], columns="model", values="mean")
    printed = results.published.set_index(["model", "metric"])["value"]
    of_paper = int(printed["all", "cells"])
    rows = []
    for (model, statement), (winners, losers) in RIVALS.items():
        won = int((cells[winners].max(axis=1) > cells[losers].max(axis=1)).sum())
        theirs = int(printed[model, statement])
        rows.append(
            {
                "model": model,
                "statement": statement,
                "published": f"{theirs} of {of_paper}",
                "ours": f"{won} of {len(cells)}",
                "published share": theirs / of_paper,
                "our share": won / len(cells),
                "difference": won / len(cells) - theirs / of_paper,
            }
        )
    return pd.DataFrame(rows), None
