"""Table 1: NDCG on test data, and the data themselves (Section 6.1), beside the published numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankplug.studies import Results, beside_published, facts_beside_published
from rankplug_stochastic.study.protocol import METRICS

if TYPE_CHECKING:
    import pandas as pd


def table_1(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the table of setting B, as in the paper."""
    return _table(results, "tuned"), None


def table_1_fixed(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the same table for setting A, which the paper shows as curves only."""
    return _table(results, "fixed"), None


def _table(results: Results, setting: str) -> pd.DataFrame:
    import pandas as pd

    tables = [
        beside_published(results, group, METRICS, exhibit="Table 1", dataset=results.place(group))
        for group in results.groups(kind=setting)
    ]
    return pd.concat(tables, ignore_index=True)


def data(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the sizes of the data (Section 6.1)."""
    groups = {results.place(group): group for group in results.groups(kind="tuned")}
    return facts_beside_published(results, "Section 6.1", groups), None
