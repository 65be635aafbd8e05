"""The combination that validation data choose, of all and of each paper's own, measured on the test data.

Each fold chooses for itself, by its own validation part. A collection's folds rotate, so that what validates one fold
tests another: a choice by the mean over all folds would use every label of the test parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from rankplug.statistics import Interval
from rankplug.studies import Results, interval_of
from rankplug_crossover.study.protocol import METRICS, paper_of, whole_grids
from rankplug_crossover.study.quality import identities, validation_folds

ANY, NEW, OWN = "all", "new combinations", "the papers' own"
WHO = (ANY, NEW, OWN, "stochastic", "xendcg", "uniquerating", "logrank")


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
    """Return the model that each fold's validation part chooses.

    Args:
        folds: validation quality, see :func:`~rankplug_crossover.study.quality.validation_folds`.
        who: among which models, one of :data:`WHO`.
    """
    papers = pd.Series(map(paper_of, folds.index), folds.index)
    among = {ANY: papers.notna(), NEW: papers == "", OWN: papers != ""}
    candidates = folds[among.get(who, papers == who)]
    return {int(fold): str(candidates[fold].idxmax()) for fold in candidates.columns}


def values_of_choice(results: Results, group: str, metric: str, chosen: Mapping[int, str]) -> pd.Series[float]:
    """Return the test metric of every query under the model that its fold chose."""
    values = results.by_query(group, metric)
    folds = values.index.get_level_values("fold")
    return pd.concat([values.loc[folds == fold, model] for fold, model in chosen.items()])


def mean_of_choice(results: Results, group: str, metric: str, chosen: dict[int, str], scale: float = 1.0) -> Interval:
    """Return the mean test metric where each fold is measured under the model that it chose."""
    own = values_of_choice(results, group, metric, chosen)
    return interval_of(results.sample_of_queries(group, scale * own, {(group, model) for model in chosen.values()}))
