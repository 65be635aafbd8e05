"""The combination that validation data choose, of all and of each paper's own, measured on the test data.

A collection's folds rotate, so what validates one fold tests another. A combination that is chosen for all folds by
its mean over them was therefore chosen with every test query's labels at hand. Where each fold chooses for itself, no
label of its test part plays a role: that row is the strict one.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from rankplug.statistics import Interval
from rankplug.studies import Results, interval_of
from rankplug_crossover.study.protocol import METRICS, paper_of, whole_grids
from rankplug_crossover.study.quality import identities, validation_folds

ANY, EACH_FOLD, NEW = "all", "all, fold by fold", "new combinations"
WHO = (ANY, EACH_FOLD, NEW, "stochastic", "xendcg", "uniquerating", "logrank")


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return for each collection the best of all, of the new combinations and of every paper, by validation NDCG@5."""
    rows: list[dict[str, Any]] = []
    for group in whole_grids(results):
        folds = validation_folds(results, group)
        names = identities(results, group).set_index("model")["combination"]
        for who in WHO:
            chosen = choice(folds, who)
            models = list(dict.fromkeys(chosen.values()))
            validation = [folds[fold][model] for fold, model in chosen.items()]
            row: dict[str, Any] = {"collection": group, "chosen among": who, "model": "; ".join(models)}
            row["validation"] = 100 * sum(validation) / len(validation)
            for metric in METRICS:
                interval = mean_of_choice(results, group, metric, chosen, scale=100)
                row |= {metric.upper(): interval.point, f"{metric.upper()} half width": interval.half_width}
            row |= {
                "queries": len(results.by_query(group, METRICS[0]).dropna()),
                "combination": " ".join(names[models]),
            }
            rows.append(row)
    return pd.DataFrame(rows), None


def choice(folds: pd.DataFrame, who: str) -> dict[int, str]:
    """Return the chosen model of each fold; the same for all of them unless each fold chooses for itself.

    Args:
        folds: validation quality, see :func:`~rankplug_crossover.study.quality.validation_folds`.
        who: among which models, one of :data:`WHO`.
    """
    if who == EACH_FOLD:
        return {int(fold): str(folds[fold].idxmax()) for fold in folds.columns}
    papers = pd.Series(map(paper_of, folds.index), folds.index)
    candidates = folds if who == ANY else folds[papers == ("" if who == NEW else who)]
    return dict.fromkeys(map(int, folds.columns), str(candidates.mean(axis=1).idxmax()))


def mean_of_choice(results: Results, group: str, metric: str, chosen: dict[int, str], scale: float = 1.0) -> Interval:
    """Return the mean test metric where each fold is measured under the model that it chose."""
    values = results.by_query(group, metric)
    folds = values.index.get_level_values("fold")
    own = pd.concat([values.loc[folds == fold, model] for fold, model in chosen.items()])
    return interval_of(results.sample_of_queries(group, scale * own, {(group, model) for model in chosen.values()}))
