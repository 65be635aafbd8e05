"""Table 1: what the collections hold, computed from the data that stand in their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankplug.studies import Results, facts_beside_published
from rankplug_uniquerating.study.protocol import PLACES, group_of

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("paper's data", "our data", "fact", "published", "ours", "difference")


def draw(results: Results) -> tuple[pd.DataFrame, None]:
    """Return each number beside the printed one; only the printed one of a collection whose place is empty.

    There is a difference only of a collection itself: made data have sizes of their own.
    """
    import pandas as pd

    there = {collection: group for collection in PLACES if (group := group_of(results, collection))}
    printed = results.published[results.published["exhibit"] == "Table 1"]
    printed = printed[~printed["dataset"].isin(there)].rename(
        columns={"dataset": "paper's data", "metric": "fact", "value": "published"}
    )
    table = pd.concat(
        [facts_beside_published(results, "Table 1", there), printed.assign(**{"our data": "no data"})],
        ignore_index=True,
    )
    same = [collection for collection, group in there.items() if not results.is_made(group)]
    table["difference"] = (
        (table["ours"] - table["published"]).where(table["paper's data"].isin(same)) if there else None
    )
    return table.reindex(columns=list(COLUMNS)), None
