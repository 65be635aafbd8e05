"""Facts that a paper states about its data sets, beside the same facts of our data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankplug.system import trial_seed

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.data import Lists
    from rankplug.studies.study_results import Results


def facts(dataset: str, seed: int = 0) -> dict[str, float]:
    """Return the sizes of a data set's first fold, as the first trial under a master seed has it.

    >>> counted = facts("synthetic[queries=50,documents=10,sample=0]")
    >>> counted["queries"], counted["test queries"], counted["features"]
    (50.0, 10.0, 136.0)
    """
    from rankplug.data import load

    parts = load(dataset, seed=trial_seed(seed, 0))
    queries = sum(len(part) for part in parts)
    return {
        "queries": float(queries),
        "test queries": float(len(parts.test)),
        "queries without a relevant document": float(sum(map(_barren, parts))),
        "test queries without a relevant document": float(_barren(parts.test)),
        "documents": float(sum(part.documents for part in parts)),
        "mean documents per query": sum(part.documents for part in parts) / queries,
        "most documents per query": float(max(part.lengths.max(initial=0) for part in parts)),
        "features": float(parts.train.features.shape[1]),
        **_ratings(parts),
    }


def _ratings(parts: Sequence[Lists]) -> dict[str, float]:
    labels, lengths = (
        np.concatenate(rows) for rows in zip(*((part.labels, part.lengths) for part in parts), strict=True)
    )
    lowest = labels == labels.min()
    shares = np.add.reduceat(lowest, np.cumsum(lengths) - lengths, dtype=np.int64) / lengths
    return {
        "ratings": float(np.unique(labels).size),
        "documents of the lowest rating (%)": 100.0 * float(lowest.mean()),
        "mean share of the lowest rating in a query (%)": 100.0 * float(shares.mean()),
    }


def _barren(part: Lists) -> int:
    return int((np.maximum.reduceat(part.labels, part.starts[:-1]) == 0).sum()) if len(part) else 0


def facts_beside_published(results: Results, exhibit: str, groups: Mapping[str, str]) -> pd.DataFrame:
    """Return the facts a paper prints about its data sets beside ours, a row for each data set and fact.

    Args:
        results: of the study.
        exhibit: the section that prints them.
        groups: the paper's data set -> the group of runs in its place.
    """
    import pandas as pd

    printed = results.published[results.published["exhibit"] == exhibit]
    rows = []
    for name, group in groups.items():
        dataset = str(results[group]["dataset"].iloc[0])
        seed = results.runs[group].shared.get("seed", 0) if group in results.runs else 0
        ours = facts(dataset, seed)
        for fact, value in printed.loc[printed["dataset"] == name, ["metric", "value"]].itertuples(index=False):
            rows.append(
                {"paper's data": name, "our data": dataset, "fact": fact, "published": value} | {"ours": ours[fact]}
            )
    return pd.DataFrame(rows)
