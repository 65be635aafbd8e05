"""Selection of documents and queries, and changes of some parts of a split only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Lists
from rankplug.errors import NothingLeftError


def keep_queries(lists: Lists, kept: NDArray[np.bool_], dropped: str) -> Lists:
    """Return the queries marked in ``kept``, the same object when all are; at least one must be left.

    Args:
        lists: where they are taken from.
        kept: a mark for each query.
        dropped: what the dropped queries have in common, for the message when nothing is left.
    """
    if kept.all():
        return lists
    if not kept.any():
        where = lists.source or "these lists"
        raise NothingLeftError(f"every one of the {len(lists)} queries of {where} {dropped}, so none would be left")
    return lists[kept]


def keep_documents(lists: Lists, kept: NDArray[np.bool_], dropped: str) -> Lists:
    """Return the documents marked in ``kept``; a query that loses all of its documents is removed."""
    if kept.all():
        return lists
    lengths = np.add.reduceat(kept.astype(np.int64), lists.starts[:-1])
    if not lengths.any():
        where = lists.source or "these lists"
        raise NothingLeftError(
            f"every one of the {lists.documents} documents of {where} {dropped}, so none would be left"
        )
    starts = np.concatenate(([0], np.cumsum(lengths[lengths > 0])))
    return lists.take(np.flatnonzero(kept), starts, np.flatnonzero(lengths))


def random_places(lists: Lists, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return a random permutation of each list: the position that each document gets in its own list, from 0."""
    order = np.lexsort((generator.random(lists.documents), lists.query_of_document))
    positions = np.empty(lists.documents, np.int64)
    positions[order] = np.arange(lists.documents) - np.repeat(lists.starts[:-1], lists.lengths)
    return positions


def rounded_shares(lists: Lists, share: float) -> NDArray[np.int64]:
    """Return a share of each list's length as a whole number of documents, halves rounded up."""
    counts: NDArray[np.int64] = np.floor(share * lists.lengths + 0.5).astype(np.int64)
    return counts
