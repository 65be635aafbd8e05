"""Our rows beside the official ones: means of the folds, and what the folds say of the difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rankplug.studies import OfficialFolds, Results, Sample, interval_of
from rankplug_letor2.study.protocol import DATASET, GROUP, MEASURES, OFFICIAL

PARTS = ("train", "valid", "test")
FOLDS = {f"fold {fold}": fold for fold in range(1, 6)}
"""The release's data sets of single folds."""


def is_the_release(results: Results) -> bool:
    """Tell whether the runs are on the release itself, on all of its folds."""
    runs = results.runs.get(GROUP)
    return runs is not None and str(runs.shared["dataset"]) == DATASET and len(runs.folds) == 5


def official(results: Results, model: str, metric: str, part: str = "test") -> pd.Series[float]:
    """Return a row of the release: its numbers on a part, by fold."""
    printed = results.published
    of_model = (printed["exhibit"] == f"{part} part") & (printed["model"] == OFFICIAL[model])
    rows = printed[of_model & (printed["metric"] == metric) & printed["dataset"].isin(FOLDS)]
    return pd.Series(rows["value"].to_numpy(float), rows["dataset"].map(FOLDS).astype(int))


def ours(results: Results, model: str, metric: str) -> pd.Series[float]:
    """Return our numbers on the test parts, by fold."""
    return results.by_query(GROUP, metric)[model].groupby(level="fold").mean()


def difference(results: Results, model: str, metric: str) -> Sample:
    """Return our test numbers less the official ones, a fold each.

    Both are single runs on the same queries and neither has a seed, so what varies between the folds is what two such
    runs differ by: solver, choice of the regularisation, number of rounds.
    """
    values = np.asarray(ours(results, model, metric) - official(results, model, metric), np.float64)
    return Sample(values[:, None], OfficialFolds(), frozenset([(GROUP, model)]))


def measures_within(results: Results, model: str) -> int:
    """Return how many of a row's differences have an interval that holds 0."""
    intervals = [interval_of(difference(results, model, metric)) for metric in MEASURES.values()]
    return sum(interval.low <= 0.0 <= interval.high for interval in intervals)


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return a row for each model and measure: ours, the official number, their difference and its interval."""
    rows: list[dict[str, Any]] = []
    for model in results.models(GROUP):
        for name, metric in MEASURES.items():
            row: dict[str, Any] = {"model": model, "measure": name, "ours": 100 * ours(results, model, metric).mean()}
            if is_the_release(results):
                sample = interval_of(difference(results, model, metric))
                row |= {"official": 100 * official(results, model, metric).mean(), "difference": 100 * sample.point}
                row |= {"low": 100 * sample.low, "high": 100 * sample.high}
            rows.append({**row, "combination": _combination(results, model)})
    return pd.DataFrame(rows), None


def map_of_parts(results: Results) -> tuple[pd.DataFrame, None]:
    """Return MAP on the training, validation and test parts, ours and the official ones, in percent.

    On the training and validation parts it is that of the iteration which validation data chose.
    """
    metric = MEASURES["MAP"]
    rows: list[dict[str, Any]] = []
    for model in results.models(GROUP):
        valid, train = (results.curve_of_trials(GROUP, model, part, metric) for part in ("valid", "train"))
        best = valid.idxmax()
        means = {
            "train": np.mean([train[column].loc[best[column]] for column in valid.columns]),
            "valid": valid.max().to_numpy(float).mean(),
            "test": ours(results, model, metric).mean(),
        }
        row: dict[str, Any] = {"model": model, "iterations": float(best.mean() + 1)}
        for part in PARTS:
            row[part] = 100 * means[part]
            if is_the_release(results):
                row[f"official {part}"] = 100 * official(results, model, metric, part).mean()
        rows.append({**row, "combination": _combination(results, model)})
    return pd.DataFrame(rows), None


def _combination(results: Results, model: str) -> str:
    return " ".join(sorted(results.identities(GROUP, model)))
