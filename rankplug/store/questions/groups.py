"""Groups of results: a mean over trials with an interval, and a refusal where unlike things would be averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.errors import did_you_mean
from rankplug.statistics import t_interval
from rankplug.store.origins import ORIGIN
from rankplug.store.result_store import PARTS, TRIAL_COLUMNS, ResultsError

if TYPE_CHECKING:
    import pandas as pd

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
    keys = [*groups, "metric"]
    there = frame[frame["value"].notna()]
    number = there.groupby(keys, dropna=False).ngroup()
    means = means_of_trials(there, number)
    summary = _intervals(means, level).reindex(range(number.nunique()))
    by_group = there.groupby(number)
    summary["trials"] = means.groupby(level=0).size().reindex(summary.index, fill_value=0)
    summary["incomplete"] = by_group["trial"].nunique() - summary["trials"]
    summary["folds"] = by_group["fold"].nunique()
    summary["combinations"] = by_group["combination"].nunique()
    if ORIGIN in frame:
        summary["origins"] = by_group[ORIGIN].agg(lambda origins: ", ".join(sorted(set(origins) - {""})))
    heads = there.loc[~number.duplicated(), keys].set_index(number[~number.duplicated()])
    return pd.concat([heads.sort_index(), summary], axis=1).reset_index(drop=True)


def means_of_trials(rows: pd.DataFrame, group: pd.Series[int] | None = None) -> pd.Series[float]:
    """Return the value of each trial that has all folds and combinations of its group, by group and trial.

    Args:
        rows: a row a trial and metric.
        group: the number of each row's group; all are of one where it is not given.
    """
    group = rows["trial"] * 0 if group is None else group
    by_trial = rows.groupby([group, rows["trial"]])["value"]
    cells = rows[["combination", "fold"]].assign(group=group).drop_duplicates().groupby("group").size()
    sizes = by_trial.size()
    return by_trial.mean()[sizes == cells.reindex(sizes.index.get_level_values(0)).to_numpy()]


def _intervals(means: pd.Series[float], level: float) -> pd.DataFrame:
    """Return mean, low and high of each group."""
    import pandas as pd

    group, values = means.index.get_level_values(0).to_numpy(), means.to_numpy()
    present, begins = np.unique(group, return_index=True)
    found = (
        [t_interval(own, unit="trials", level=level) for own in np.split(values, begins[1:])] if len(present) else []
    )
    numbers = [(interval.point, interval.low, interval.high) for interval in found]
    return pd.DataFrame(numbers, index=present, columns=["mean", "low", "high"], dtype=float)


def _refuse_mixtures(frame: pd.DataFrame, groups: Sequence[str], pool: Sequence[str]) -> None:
    told = {*groups, *pool}
    if "combination" in told:
        return
    parts = frame[[*PARTS, "combination"]].drop_duplicates()
    keys = [name for name in groups if name in PARTS]
    several = parts[parts.duplicated(keys, keep=False)].groupby(keys, dropna=False) if keys else [((), parts)]
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
