"""Quality of every combination on the test queries: means, intervals, and the values that tests pair."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rankplug.studies import Results
from rankplug.sweeps import validation_quality
from rankplug_crossover.study.protocol import BACKENDS, METRIC, NOISY, PLAIN, cells, paper_of


def quality(results: Results, group: str, metric: str = METRIC) -> pd.DataFrame:
    """Return each model's mean test metric in percent with its 95 % interval, best first, and its paper if any."""
    intervals = {model: results.mean(group, metric, model, scale=100) for model in results.models(group)}
    queries = len(results.by_query(group, metric).dropna())
    rows = [
        {"model": model, "ours": interval.point, "low": interval.low, "high": interval.high, "queries": queries}
        | {"paper": paper_of(str(model))}
        for model, interval in intervals.items()
    ]
    frame = pd.DataFrame(rows).merge(identities(results, group), on="model")
    return frame.sort_values("ours", ascending=False, kind="stable", ignore_index=True)


def identities(results: Results, group: str) -> pd.DataFrame:
    """Return the names of the results behind each model."""
    models = results.models(group)
    return pd.DataFrame({"model": models, "combination": [results.combinations_of(group, model) for model in models]})


def best_of_papers(results: Results, group: str, metric: str = METRIC) -> str:
    """Return the papers' own combination with the highest mean on test data, the hardest to beat."""
    frame = quality(results, group, metric)
    return str(frame.loc[frame["paper"] != "", "model"].iloc[0])


def validation_folds(results: Results, group: str) -> pd.DataFrame:
    """Return each model's best validation quality, averaged over trials: a row a model, a column a fold."""
    frame = results[group]
    best = {model: validation_quality(rows).max() for model, rows in frame.groupby("model", observed=True)}
    return pd.DataFrame.from_dict(best, orient="index")


def validation_means(results: Results, group: str) -> pd.Series[float]:
    """Return each model's best validation quality, averaged over trials and folds, best first."""
    means = validation_folds(results, group).mean(axis=1).rename("validation")
    return means.sort_values(ascending=False, kind="stable")


def grid(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Pivot a column of :func:`quality` into a table, a row for each loss, a column for each backend and noise."""
    values = frame.set_index("model")[column]
    rows: dict[str, dict[Any, Any]] = {}
    for cell in cells():
        if cell.model in values.index:
            rows.setdefault(cell.loss, {})[cell.backend, cell.noise] = values[cell.model]
    columns = pd.MultiIndex.from_tuples([(backend, noise) for backend in BACKENDS for noise in (PLAIN, NOISY)])
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=columns)


def heading(results: Results, group: str) -> str:
    """Return the words for a collection in the titles of figures."""
    return f"on data {group}" if results.is_made(group) else f"on {group}"
