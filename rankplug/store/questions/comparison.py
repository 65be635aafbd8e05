"""Two groups of results against each other, trial by trial and query by query, with tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.statistics import PairedTest, Unit, effect_size, paired_permutation_test, paired_t_test
from rankplug.store.questions.tables import query, require_metrics
from rankplug.store.result_store import PARTS, ResultsError, Store
from rankplug.system import fraction

if TYPE_CHECKING:
    import pandas as pd

TRIAL = ("dataset", "test_fingerprint", "fold", "trial")
QUERY = ("dataset", "test_fingerprint", "query")
VALUES = [*TRIAL, "metric", "query", "value"]
PAIRED_BY = (*TRIAL, "query")
"""Columns by which the values of two groups are paired."""


def compare(
    first: str,
    second: str,
    *,
    store: Store | str | Path | None = None,
    metric: str | Sequence[str] = (),
    level: float = 0.95,
) -> pd.DataFrame:
    """Compare two groups of results: the first minus the second, one row for each metric and unit of replication.

    Trials are paired by data set, fold and number, whose seeds and so whose data are the same, and queries by name on
    the same test data, each averaged over its trials. ``low``, ``high`` and ``p`` of a row are of one ``test``:
    a paired t test over trials, a paired permutation test over queries. ``first`` and ``second`` name the two sides by
    what differs between them.

    Args:
        first: a condition in SQL, such as ``loss = 'xe_ndcg'``, that picks one combination a data set.
        second: the other.
        store: the results' folder, or the usual one.
        metric: only these.
        level: of the intervals.
    """
    import pandas as pd

    fraction(level, "level")
    chosen = [metric] if isinstance(metric, str) else list(metric)
    groups = [_values(condition, store) for condition in (first, second)]
    both = _paired(*groups)
    if both.empty:
        raise ResultsError(f"no trial of {first} has a counterpart on the same data in {second}")
    require_metrics(chosen, both["metric"])
    names = dict(zip(("first", "second"), _names(*(group[list(PARTS)] for group in groups)), strict=True))
    rows = [
        {"metric": name, **names, **row}
        for name, rows in both.groupby("metric")
        if not chosen or name in chosen
        for row in _compared(rows, level)
    ]
    return pd.DataFrame(rows)


def _names(first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    """Name each side by those of its parts that differ from the other's."""
    said = [side.astype(object).where(side.notna(), "") for side in (first, second)]
    sides = [{part: list(side[part].unique()) for part in PARTS} for side in said]
    apart = [part for part in PARTS if sides[0][part] != sides[1][part]]
    return [
        " / ".join(str(value) or f"no {part}" for part in apart for value in side[part]) or word
        for side, word in zip(sides, ("first", "second"), strict=True)
    ]


def _values(condition: str, store: Store | str | Path | None) -> pd.DataFrame:
    columns = ", ".join(dict.fromkeys((*TRIAL, *PARTS)))
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


def _paired(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the values of two groups side by side, where both have one."""
    names = [*PAIRED_BY, "metric"]
    return first[VALUES].merge(second[VALUES], on=names, suffixes=("_first", "_second")).dropna()


def compared_by_queries(first: pd.DataFrame, second: pd.DataFrame) -> PairedTest | None:
    """Test one metric of two groups over queries; None where they have fewer than two queries in common."""
    pairs = _paired(first, second).groupby([*QUERY])[["value_first", "value_second"]].mean()
    return paired_permutation_test(*pairs.to_numpy().T, unit="queries") if len(pairs) > 1 else None


def _compared(rows: pd.DataFrame, level: float) -> Iterator[dict[str, Any]]:
    units: dict[Unit, tuple[tuple[str, ...], Callable[..., PairedTest]]] = {
        "trials": (TRIAL, paired_t_test),
        "queries": (QUERY, paired_permutation_test),
    }
    for unit, (keys, test) in units.items():
        pairs = rows.groupby([*keys])[["value_first", "value_second"]].mean()
        facts: dict[str, Any] = {
            "unit": unit,
            "pairs": len(pairs),
            "mean_first": pairs["value_first"].mean(),
            "mean_second": pairs["value_second"].mean(),
            "difference": (pairs["value_first"] - pairs["value_second"]).mean(),
        }
        if len(pairs) > 1:
            difference = test(*pairs.to_numpy().T, unit=unit, level=level)
            effect = effect_size(*pairs.to_numpy().T, unit=unit).hedges
            yield {
                **facts, "low": difference.low, "high": difference.high, "p": difference.p_value,
                "test": difference.method, "effect_size": effect,
            }  # fmt: skip
        else:
            nothing = dict.fromkeys(("low", "high", "p"), float("nan"))
            yield {**facts, **nothing, "test": "", "effect_size": float("nan")}
