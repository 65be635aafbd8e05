"""Groups of results: a mean over trials with an interval, and a refusal where unlike things would be averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankplug.errors import did_you_mean
from rankplug.statistics import t_interval
from rankplug.store.origins import ORIGIN
from rankplug.store.result_store import PARTS, TRIAL_COLUMNS, ResultsError

if TYPE_CHECKING:
    import pandas as pd

SUMMARY = ("mean", "low", "high", "trials", "incomplete", "folds", "combinations")
POOLED = (*PARTS, "combination")
ALIKE = {"combination", "fold", "trial"}
"""Columns that tell no model from another."""
SHOWN = 4
"""Values that a sentence names of a part; the rest is counted."""


def distinguishing(rows: pd.DataFrame) -> list[str]:
    """Return the columns that tell groups apart when none are named: the parts that differ between the results."""
    return [name for name in TRIAL_COLUMNS if name not in ALIKE and rows[name].nunique(dropna=False) > 1]


def grouped(frame: pd.DataFrame, groups: Sequence[str], pool: Sequence[str], level: float) -> pd.DataFrame:
    """Return one row a group and metric: the mean over trials with Student's interval, and what it is made of.

    A trial's value is the mean over the folds and, where they are pooled, the combinations of its group. A trial that
    lacks some of these is ``incomplete`` and left out, as it would be a mean of something else.

    Args:
        frame: a row a trial and metric.
        groups: columns that tell groups apart.
        pool: parts of combinations that may differ inside a group.
        level: of the intervals.
    """
    import pandas as pd

    for name in groups:
        if name not in TRIAL_COLUMNS:
            raise ResultsError(f"results cannot be grouped by {name}: {did_you_mean(name, TRIAL_COLUMNS)}")
    for name in pool:
        if name not in POOLED:
            raise ResultsError(f"results cannot be pooled over {name}: {did_you_mean(name, POOLED)}")
    _refuse_mixtures(frame, groups, pool)
    rows = [
        {**dict(zip([*groups, "metric"], names, strict=True)), **_summary(group, level)}
        for names, group in frame[frame["value"].notna()].groupby([*groups, "metric"], dropna=False)
    ]
    told = ("origins",) if ORIGIN in frame else ()
    return pd.DataFrame(rows, columns=[*groups, "metric", *SUMMARY, *told])


def means_of_trials(group: pd.DataFrame) -> pd.Series[float]:
    """Return the value of each trial that has all folds and combinations of its group."""
    by_trial = group.groupby("trial")["value"]
    return by_trial.mean()[by_trial.size() == len(group[["combination", "fold"]].drop_duplicates())]


def _summary(group: pd.DataFrame, level: float) -> dict[str, Any]:
    complete = means_of_trials(group)
    facts: dict[str, Any] = {name: float("nan") for name in ("mean", "low", "high")}
    if not complete.empty:
        interval = t_interval(complete, unit="trials", level=level)
        facts = {"mean": interval.point, "low": interval.low, "high": interval.high}
    origins = {"origins": ", ".join(sorted(set(group[ORIGIN]) - {""}))} if ORIGIN in group else {}
    return {
        **facts,
        **origins,
        "trials": len(complete),
        "incomplete": group["trial"].nunique() - len(complete),
        "folds": group["fold"].nunique(),
        "combinations": group["combination"].nunique(),
    }


def _refuse_mixtures(frame: pd.DataFrame, groups: Sequence[str], pool: Sequence[str]) -> None:
    told = {*groups, *pool}
    if "combination" in told:
        return
    parts = frame[[*PARTS, "combination"]].drop_duplicates()
    keys = [name for name in groups if name in PARTS]
    several = parts.groupby(keys, dropna=False) if keys else [((), parts)]
    for names, group in several:
        what = ", ".join(str(name) for name in names) or "the results"
        mixed = {name: list(group[name].unique()) for name in PARTS if name not in told}
        mixed = {name: values for name, values in mixed.items() if len(values) > 1}
        if mixed:
            words = "; ".join(f"{name}: {_few(values)}" for name, values in mixed.items())
            raise ResultsError(
                f"a mean over {what} would mix {group['combination'].nunique()} combinations ({words}); add"
                f" {','.join(mixed)} to --group-by, choose some with --where, or allow it with --pool {','.join(mixed)}"
            )
        for _, alike in group.groupby(list(PARTS), dropna=False)["combination"]:
            if len(alike) > 1:
                raise ResultsError(
                    f"a mean over {what} would mix results of other versions, data or metrics ({_few(list(alike))});"
                    f" choose one with --where \"combination = '{alike.iloc[0]}'\", or add combination to --group-by"
                )


def _few(values: Sequence[Any]) -> str:
    import pandas as pd

    words = [
        "none" if pd.isna(value) or value == "" else f"{value:g}" if isinstance(value, float) else str(value)
        for value in values
    ]
    words = words[:SHOWN]
    return ", ".join(words) + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")
