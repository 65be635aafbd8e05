"""Choice of the combination of a grid that represents a model: the best on each fold's validation data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankplug.training import LOSS

if TYPE_CHECKING:
    import pandas as pd


def validation_quality(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over trials of the best validation value, higher is better: a row a combination, a column a fold.

    Where several metrics select the iteration, the first of them counts; a validation loss counts with its sign turned.
    """
    selecting = frame["selection"].str.split(" | ", regex=False).str[0]
    watched = frame[(frame["measure"] == "curve") & (frame["part"] == "valid") & (frame["metric"] == selecting)]
    values = watched["value"].where(watched["metric"] != LOSS, -watched["value"])
    best = values.groupby([watched["combination"], watched["fold"], watched["trial"]], observed=True).max()
    return best.groupby(["combination", "fold"], observed=True).mean().unstack("fold")


def chosen_on_validation(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the combination that is best on each fold's validation data; all rows of a single one."""
    if frame["combination"].nunique() <= 1:
        return frame
    chosen = validation_quality(frame).idxmax()
    return frame[frame["combination"] == frame["fold"].map(chosen)].reset_index(drop=True)
