"""Choice of the combination of a grid that represents a model: the best on each fold's validation data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankplug.training import LOSS

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.store import Store, Trial


def validation_quality(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over trials of the best validation value, higher is better: a row a combination, a column a fold.

    Where several metrics select the iteration, the first of them counts; a validation loss counts with its sign turned.
    """
    selecting = frame["selection"].str.split(" | ", regex=False).str[0]
    watched = frame[(frame["measure"] == "curve") & (frame["part"] == "valid") & (frame["metric"] == selecting)]
    values = watched["value"].where(watched["metric"] != LOSS, -watched["value"])
    best = values.groupby([watched["combination"], watched["fold"], watched["trial"]], observed=True).max()
    return best.groupby(["combination", "fold"], observed=True).mean().unstack("fold")


def chosen_on_validation(frame: pd.DataFrame, choosing: int = 0) -> pd.DataFrame:
    """Return the rows of the combination that is best on each fold's validation data; all rows of a single one.

    Args:
        frame: rows of a grid's results.
        choosing: number of the first trials that choose; all choose where it is 0.
    """
    if frame["combination"].nunique() <= 1:
        return frame
    chosen = validation_quality(frame[frame["trial"] < choosing] if choosing else frame).idxmax()
    return frame[frame["combination"] == frame["fold"].map(chosen)].reset_index(drop=True)


def needed_trials(trials: Sequence[Trial], choosing: int, store: Store) -> list[Trial]:
    """Return those trials of a grid that are needed where only the first ones choose among its combinations.

    They are the first of every combination, and the others of the one that is best on the validation data of their
    fold, once a store has all of the first ones there.

    Args:
        trials: of all combinations, folds and repetitions.
        choosing: number of the first trials of a combination and fold that choose; all are needed where it is 0.
        store: where results lie.
    """
    if not choosing or len({trial.combination.identity for trial in trials}) == 1:
        return list(trials)
    first = [trial for trial in trials if trial.number < choosing]
    if len(first) == len(trials):
        return first
    open_folds = {trial.fold for trial in first if not store.has(trial)}
    chosen: dict[Any, Any] = {}
    if finished := [trial for trial in first if trial.fold not in open_folds]:
        chosen = validation_quality(store.frame(finished)).idxmax().to_dict()
    return [
        trial for trial in trials if trial.number < choosing or chosen.get(trial.fold) == trial.combination.identity
    ]
