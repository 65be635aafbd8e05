"""Augmentation: documents of other queries as irrelevant ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Lists, Split
from rankplug.errors import DataError
from rankplug_data.transforms.parameters import Augmentation
from rankplug_data.transforms.selection import rounded_shares


def negative_augmentation(split: Split, parameters: Augmentation, generator: np.random.Generator) -> Split:
    """Lengthen lists by a share of their length, with training documents of other queries, labelled 0."""
    donors = split.train
    if len(donors) < 2 and parameters.share > 0:
        raise DataError("negative_augmentation draws from other training queries, but there is only one query")

    def change(lists: Lists) -> Lists:
        counts = rounded_shares(lists, parameters.share)
        if lists is donors:
            drawn = _documents_of_others(donors, counts, generator)
        else:
            drawn = generator.integers(donors.documents, size=int(counts.sum()))
        return _lengthened(lists, counts, donors, drawn)

    return split.change(parameters.parts, change)


def _documents_of_others(lists: Lists, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw documents for each query, uniform with replacement among those that are not its own."""
    own = np.repeat(lists.lengths, counts)
    drawn = generator.integers(lists.documents - own)
    return drawn + np.where(drawn >= np.repeat(lists.starts[:-1], counts), own, 0)


def _lengthened(lists: Lists, counts: NDArray[np.int64], donors: Lists, drawn: NDArray[np.int64]) -> Lists:
    """Append to each list its share of the drawn documents."""
    starts = np.concatenate(([0], np.cumsum(lists.lengths + counts)))
    added = np.repeat(starts[1:] - np.cumsum(counts), counts) + np.arange(drawn.size)
    documents = np.full(int(starts[-1]), -1)
    documents[added] = lists.documents + drawn
    documents[documents < 0] = np.arange(lists.documents)
    clicks = None if lists.clicks is None else lists.clicks.unseen(donors.documents)
    negatives = replace(donors, labels=np.zeros_like(donors.labels), clicks=clicks)
    joined = Lists.gather([lists, negatives], documents, starts, np.arange(len(lists)))
    return replace(joined, source=lists.source)
