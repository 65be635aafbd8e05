"""Two groups of results against each other, trial by trial and query by query, with tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.statistics import effect_size, hierarchical_bootstrap, paired_permutation_test, paired_t_test
from rankplug.store.result_store import ResultsError, Store
from rankplug.store.result_tables import query, require_metrics
from rankplug.system import fraction

if TYPE_CHECKING:
    import pandas as pd

TRIAL = ("dataset", "test_fingerprint", "fold", "trial")
QUERY = ("dataset", "test_fingerprint", "query")


def compare(
    first: str,
    second: str,
    *,
    store: Store | str | Path | None = None,
    metric: str | Sequence[str] = (),
    level: float = 0.95,
) -> pd.DataFrame:
    """The first group minus the second, one row a metric.

    Trials are paired by data set, fold and number, whose seeds and so whose data are the same, and queries by name
    the same test data. ``difference`` has a bootstrap interval that draws trials first and queries in each;
    ``p_trials`` is of a paired t test over trials, ``p_queries`` of a paired permutation test over queries, each
    averaged over its trials.

    Args:
        first: a condition in SQL, such as ``loss = 'xe_ndcg'``, that picks one combination a data set.
        second: the other.
        store: the results' folder, or the usual one.
        metric: only these.
        level: of the interval.
    """
    import pandas as pd

    fraction(level, "level")
    chosen = [metric] if isinstance(metric, str) else list(metric)
    groups = [_values(condition, store) for condition in (first, second)]
    both = groups[0].merge(groups[1], on=[*TRIAL, "metric", "query"], suffixes=("_first", "_second")).dropna()
    if both.empty:
        raise ResultsError(f"no trial of {first} has a counterpart on the same data in {second}")
    require_metrics(chosen, both["metric"])
    rows = [
        {"metric": name, **_compared(rows, level)}
        for name, rows in both.groupby("metric")
        if not chosen or name in chosen
    ]
    return pd.DataFrame(rows)


def _values(condition: str, store: Store | str | Path | None) -> pd.DataFrame:
    columns = ", ".join(TRIAL)
    frame = query(f"select {columns}, combination, metric, query, value from queries where {condition}", store)
    if frame.empty:
        raise ResultsError(f"no result meets the condition {condition}")
    several = frame.groupby("dataset")["combination"].nunique()
    if (several > 1).any():
        dataset = several.idxmax()
        raise ResultsError(
            f"the condition {condition} picks {several.max()} combinations on {dataset}; narrow it to one, such as with"
            f" combination = '{frame.loc[frame['dataset'] == dataset, 'combination'].iloc[0]}'"
        )
    return frame


def _compared(rows: pd.DataFrame, level: float) -> dict[str, Any]:
    differences = rows["value_first"] - rows["value_second"]
    of_trials = rows.groupby([*TRIAL])[["value_first", "value_second"]].mean()
    of_queries = rows.groupby([*QUERY])[["value_first", "value_second"]].mean()
    interval = hierarchical_bootstrap([values for _, values in differences.groupby([rows[name] for name in TRIAL])])
    facts: dict[str, Any] = {
        "first": of_trials["value_first"].mean(),
        "second": of_trials["value_second"].mean(),
        "difference": interval.point,
        "low": interval.low,
        "high": interval.high,
        "trials": len(of_trials),
        "queries": len(of_queries),
        "p_trials": float("nan"),
        "p_queries": float("nan"),
        "effect_size": float("nan"),
    }
    if len(of_trials) > 1:
        facts["p_trials"] = paired_t_test(*of_trials.to_numpy().T, unit="trials").p_value
    if len(of_queries) > 1:
        facts["p_queries"] = paired_permutation_test(*of_queries.to_numpy().T, unit="queries").p_value
        facts["effect_size"] = effect_size(*of_queries.to_numpy().T, unit="queries").hedges
    return facts
