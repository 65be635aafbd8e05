"""Models compared query by query: how often one is better than another, and a sample of the queries to draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.studies.study_results import Results

if TYPE_CHECKING:
    import pandas as pd

MOST_MODELS = 24
"""Models of a group that are compared; of more, those with the highest means."""
MOST_QUERIES = 200
"""Queries of a group that are drawn, taken evenly from all of them."""
EQUAL = 1e-9
"""Values that are closer than this are equal."""
DIGITS = 3
"""Digits of the values that are drawn."""


@dataclass(frozen=True)
class QueryPairs:
    """Values of a group's models on the same test queries.

    Args:
        group: its name.
        metric: whose values they are.
        queries: how many, in all trials and folds.
        models: the highest mean first.
        left_out: models with lower means.
        identities: of each model, a combination that represents it; empty where none is known.
        means: of each model over all queries.
        better: of each model, the number of queries on which it is better than each of the models.
        drawn: trial, fold and query of those that are drawn.
        values: of each model on these.
    """

    group: str
    metric: str
    queries: int
    models: tuple[str, ...]
    left_out: int
    identities: tuple[str, ...]
    means: tuple[float, ...]
    better: tuple[tuple[int, ...], ...]
    drawn: tuple[tuple[int, int, str], ...]
    values: tuple[tuple[float, ...], ...]

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> QueryPairs:
        """Read a comparison from JSON, which has lists in place of tuples."""

        def frozen(value: Any) -> Any:
            return tuple(map(frozen, value)) if isinstance(value, list) else value

        return cls(**{name: frozen(value) for name, value in described.items()})


def query_pairs(results: Results) -> Iterator[QueryPairs]:
    """Yield a comparison for each group of several models that share test queries, by the metric that selects."""
    for group in results.groups():
        metric = _metric(results, group)
        if metric and len(results.models(group)) > 1:
            values = results.by_query(group, metric).dropna()
            if len(values):
                yield _compared(results, group, metric, values)


def _metric(results: Results, group: str) -> str:
    """Return the metric of the group's test queries by which it selects, or the first; empty where there is none."""
    frame = results.frames[group]
    measured = [str(name) for name in frame.loc[frame["measure"] == "query", "metric"].unique()]
    asked = results.runs[group].shared.get("selection", ()) if group in results.runs else ()
    return next((name for name in asked if name in measured), measured[0] if measured else "")


def _compared(results: Results, group: str, metric: str, values: pd.DataFrame) -> QueryPairs:
    means = values.mean().sort_values(ascending=False, kind="stable")
    shown = values[list(means.index[:MOST_MODELS])]
    table = shown.to_numpy(np.float64)
    better = [tuple(int(count) for count in (column[:, None] > table + EQUAL).sum(axis=0)) for column in table.T]
    places = np.unique(np.linspace(0, len(table) - 1, MOST_QUERIES).round().astype(int))
    identities = [results.identities(group, str(model)) for model in shown.columns]
    return QueryPairs(
        group,
        metric,
        len(table),
        tuple(map(str, shown.columns)),
        len(means) - len(shown.columns),
        tuple(known[0] if known else "" for known in identities),
        tuple(float(mean) for mean in means.iloc[: len(shown.columns)]),
        tuple(better),
        tuple((int(trial), int(fold), str(query)) for trial, fold, query in shown.index[places]),
        tuple(tuple(float(value) for value in row) for row in table[places].T.round(DIGITS)),
    )
