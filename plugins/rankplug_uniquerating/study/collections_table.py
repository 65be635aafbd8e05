"""Table 1: what the collections hold, computed from the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankplug.lists import Lists
from rankplug.studies import Results
from rankplug_uniquerating.study.protocol import PLACES

if TYPE_CHECKING:
    import pandas as pd

STATISTICS = ("Queries", "Documents", "Features", "Rating levels", "LR (%)", "MPQ", "ALRPQ (%)")


def statistics_of(parts: tuple[Lists, ...]) -> dict[str, float]:
    """The numbers of Table 1.

    LR is the share of documents with the lowest rating, ALRPQ the mean of that share over the queries, MPQ the longest
    list.
    """
    labels = np.concatenate([part.labels for part in parts])
    lengths = np.concatenate([part.lengths for part in parts])
    lowest = labels == labels.min()
    starts = np.cumsum(lengths) - lengths
    numbers = (
        lengths.size,
        labels.size,
        parts[0].features.shape[1],
        np.unique(labels).size,
        100 * lowest.mean(),
        lengths.max(),
        100 * (np.add.reduceat(lowest, starts, dtype=np.int64) / lengths).mean(),
    )
    return dict(zip(STATISTICS, map(float, numbers), strict=True))


def statistics_of_place(results: Results, place: str) -> dict[str, float]:
    """Those of the data that stand in a place of the paper; nothing where the place is empty."""
    from rankplug.datasets import load
    from rankplug.seeds import trial_seed

    if place not in results.runs:
        return {}
    shared = results.runs[place].shared
    return statistics_of(load(shared["dataset"], seed=trial_seed(shared["seed"], 0)))


def draw(results: Results) -> tuple[pd.DataFrame, None]:
    """Each number beside the printed one."""
    import pandas as pd

    printed = results.published[results.published["exhibit"] == "Table 1"].set_index(["dataset", "metric"])["value"]
    rows = []
    for place in PLACES:
        found = statistics_of_place(results, place)
        ours_on = results.runs[place].shared["dataset"] if found else "not run"
        for statistic in STATISTICS:
            value, published = found.get(statistic, np.nan), float(printed[place, statistic])
            rows.append(
                {"collection": place, "ours on": ours_on, "statistic": statistic, "ours": value}
                | {"published": published, "difference": value - published}
            )
    return pd.DataFrame(rows), None
