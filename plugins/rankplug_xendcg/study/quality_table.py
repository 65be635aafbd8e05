"""Table 1: NDCG on test data, the paired tests between all models, and the data themselves (Section 5.1)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from rankplug.statistics import holm
from rankplug.studies import Results, beside_published, facts_beside_published, interval_of, p_value_of
from rankplug_xendcg.study.protocol import METRICS, MODELS, PLACES

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.01


def table_1(results: Results) -> tuple[pd.DataFrame, None]:
    """Return means over trials with intervals."""
    import pandas as pd

    tables = [
        beside_published(results, group, METRICS, exhibit="Table 1", dataset=results.place(group))
        for group in results.groups(kind="quality")
    ]
    return pd.concat(tables, ignore_index=True), None


def table_1_tests(results: Results) -> tuple[pd.DataFrame, None]:
    """Return two-sided tests by the design of the data, raw and corrected by Holm for the three pairs."""
    import pandas as pd

    rows = []
    for group in results.groups(kind="quality"):
        for metric in METRICS:
            family: list[dict[str, Any]] = []
            for first, second in itertools.combinations(reversed(results.models(group)), 2):
                sample = results.difference(group, metric, first, second)
                interval, p = interval_of(sample), p_value_of(sample)
                family.append(
                    {
                        "data": results.place(group),
                        "metric": metric,
                        "models": f"{first} - {second}",
                        "difference": 100 * interval.point,
                        "low": 100 * interval.low,
                        "high": 100 * interval.high,
                        "t": float(sample.estimate.point / sample.estimate.error),
                        "over": sample.extent,
                        "p": 2 * min(p, 1 - p),
                        "combination": results.combinations_of(group, first, second),
                    }
                )
            corrected = holm([row["p"] for row in family], level=LEVEL)
            for row, p_value, rejected in zip(family, corrected.p_values, corrected.rejected, strict=True):
                rows.append({**row, "p, Holm": p_value, f"differ at {LEVEL:g}": rejected})
    return pd.DataFrame(rows), None


MISSING = "not in our source"
"""Text in place of a number that the copy of the paper at hand has lost."""


def published_numbers(results: Results) -> tuple[pd.DataFrame, None]:
    """Return every number that the paper prints, where it was read, and a plain word where it could not be.

    Table 1 has lost its body; of Figure 1 the ticks of the axes are left, which bound the curves and are no values of
    them. Figures 2 and 3 have nothing that could be read.
    """
    import pandas as pd

    known = results.published[["exhibit", "dataset", "model", "metric", "value", "note"]].astype(object)
    rows = [
        {"exhibit": row.exhibit, "data": row.dataset, "model": row.model, "what": row.metric, "published": row.value}
        | {"source": row.note or "the text"}
        for row in known.where(known.notna(), "").itertuples()
    ]
    table = [
        {"exhibit": "Table 1", "data": collection, "model": model, "what": metric, "published": "", "source": MISSING}
        for collection in PLACES
        for model in MODELS
        for metric in METRICS
    ]
    figures = [
        {"exhibit": figure, "data": "", "model": "", "what": "curves", "published": "", "source": MISSING}
        for figure in ("Figure 1", "Figure 2", "Figure 3")
    ]
    return pd.DataFrame([*rows, *table, *figures]), None


def data(results: Results) -> tuple[pd.DataFrame, None]:
    """Return the sizes of the data (Section 5.1)."""
    groups = {results.place(group): group for group in results.groups(kind="quality")}
    return facts_beside_published(results, "Section 5.1", groups), None
