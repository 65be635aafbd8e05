"""Changes of data: scaling, cleaning, label noise, augmentation and random splits. Each returns new lists.

Which parts are changed, and all parameters, are in :mod:`rankplug_data.transform_specifications`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction, mix
from rankplug.data import Lists, Scaling, Split, over_lists, ranges, signed_log1p
from rankplug.errors import DataError, NothingLeftError
from rankplug.registry import Parameters
from rankplug.system import workers
from rankplug_data.transform_specifications import (
    Augmentation,
    EveryPart,
    Flips,
    RandomSplitParameters,
    Threshold,
    Truncation,
    WhatIsLearntFrom,
)

Matrix = NDArray[np.float32]
BLOCK_ROWS = 8192


@ArrayFunction
def _query_minmax(features: Matrix, starts: NDArray[np.int64], begin: int, end: int, scaled: Matrix) -> None:
    width = features.shape[1]
    lowest, span = np.empty(width), np.empty(width)
    for query in range(begin, end):
        first, last = starts[query], starts[query + 1]
        lowest[:], span[:] = np.inf, -np.inf
        for row in range(first, last):
            for column in range(width):
                value = features[row, column]
                # Missing values are in neither comparison.
                if value < lowest[column]:
                    lowest[column] = value
                if value > span[column]:
                    span[column] = value
        for column in range(width):
            span[column] = span[column] - lowest[column] + 1e-8
        for row in range(first, last):
            for column in range(width):
                scaled[row, column] = (features[row, column] - lowest[column]) / span[column]


def query_minmax(split: Split, parameters: Parameters, generator: np.random.Generator) -> Split:
    """Scale every feature within its query, ``(x - min) / (max - min + 1e-8)``; 0 where it is constant."""

    def scale(lists: Lists) -> Lists:
        scaled = np.empty(lists.features.shape, np.float32)
        over_lists(
            lists.lengths,
            lists.features.shape[1],
            lambda begin, end: _query_minmax(lists.features, lists.starts, begin, end, scaled),
        )
        return _scaled(lists, scaled)

    return split.change(Split._fields, scale)


def standardise(split: Split, parameters: Parameters, generator: np.random.Generator) -> Split:
    """Scale every feature to mean 0 and deviation 1 in the training part; constant ones become 0."""
    scaling = Scaling.of("standard", split.train.features)
    return split.change(Split._fields, lambda lists: _scaled(lists, scaling(lists.features)))


def log1p(split: Split, parameters: Parameters, generator: np.random.Generator) -> Split:
    """Replace every feature by ``sign(x) log(1 + |x|)``."""

    def scale(lists: Lists) -> Lists:
        scaled = np.empty(lists.features.shape, np.float32)

        def work(begin: int, end: int) -> None:
            scaled[begin:end] = signed_log1p(lists.features[begin:end])

        workers.run(work, [(first, first + BLOCK_ROWS) for first in range(0, lists.documents, BLOCK_ROWS)])
        return _scaled(lists, scaled)

    return split.change(Split._fields, scale)


def _scaled(lists: Lists, scaled: Matrix) -> Lists:
    """Return the lists with other features; codes of categories stay."""
    columns = list(lists.categorical)
    scaled[:, columns] = lists.features[:, columns]
    return replace(lists, features=scaled)


def drop_empty(split: Split, parameters: EveryPart, generator: np.random.Generator) -> Split:
    """Drop the queries that have no relevant document."""

    def change(lists: Lists) -> Lists:
        return _keep_queries(lists, _largest(lists) > 0, "has no relevant document")

    return split.change(parameters.parts, change)


def drop_uniform(split: Split, parameters: WhatIsLearntFrom, generator: np.random.Generator) -> Split:
    """Drop the queries whose documents all have one label: no order of theirs is better than another."""

    def change(lists: Lists) -> Lists:
        smallest = np.minimum.reduceat(lists.labels, lists.starts[:-1])
        return _keep_queries(lists, _largest(lists) > smallest, "has documents of one label only")

    return split.change(parameters.parts, change)


def drop_conflicting(split: Split, parameters: EveryPart, generator: np.random.Generator) -> Split:
    """Drop the documents that some document of their query equals in every feature but not in the label."""

    def change(lists: Lists) -> Lists:
        return _keep_documents(lists, ~_conflicting(lists), "conflicts with another")

    return split.change(parameters.parts, change)


def truncate_lists(split: Split, parameters: Truncation, generator: np.random.Generator) -> Split:
    """Truncate lists to at most ``size`` documents: the first ones, or random ones in their old order."""

    def change(lists: Lists) -> Lists:
        if parameters.keep == "random":
            positions = _random_places(lists, generator)
        else:
            positions = np.arange(lists.documents) - np.repeat(lists.starts[:-1], lists.lengths)
        return _keep_documents(lists, positions < parameters.size, "is cut off")

    return split.change(parameters.parts, change)


def _conflicting(lists: Lists) -> NDArray[np.bool_]:
    """Tell which documents have a twin of another label in their query."""
    flags = np.zeros(lists.documents, np.bool_)
    bits = lists.features.view(np.uint32)
    over_lists(
        lists.lengths,
        lists.features.shape[1],
        lambda begin, end: _mark_conflicting(lists.features, bits, lists.labels, lists.starts, begin, end, flags),
    )
    return flags


def _largest(lists: Lists) -> NDArray[np.float32]:
    largest: NDArray[np.float32] = np.maximum.reduceat(lists.labels, lists.starts[:-1])
    return largest


@ArrayFunction
def _mark_conflicting(
    features: NDArray[np.float32],
    bits: NDArray[np.uint32],
    labels: NDArray[np.float32],
    starts: NDArray[np.int64],
    begin: int,
    end: int,
    flags: NDArray[np.bool_],
) -> None:
    """Mark conflicting documents, comparing only those with equal digests; zero and minus zero are the same value."""
    for query in range(begin, end):
        first, size = starts[query], starts[query + 1] - starts[query]
        digests = np.zeros(size, np.uint64)
        for row in range(size):
            for column in range(features.shape[1]):
                if features[first + row, column] != 0.0:
                    digests[row] = mix(digests[row] + np.uint64(bits[first + row, column]) + np.uint64(column + 1))
                else:
                    digests[row] = mix(digests[row])
        order = np.argsort(digests)
        for position in range(size):
            document = first + order[position]
            following = position + 1
            while following < size and digests[order[following]] == digests[order[position]]:
                other = first + order[following]
                if labels[document] != labels[other]:
                    same = True
                    for column in range(features.shape[1]):
                        same &= (features[document, column] == features[other, column]) | (
                            bits[document, column] == bits[other, column]
                        )
                    if same:
                        flags[document] = flags[other] = True
                following += 1


def binarise(split: Split, parameters: Threshold, generator: np.random.Generator) -> Split:
    """Set labels to 1 from ``threshold`` on, to 0 below."""

    def change(lists: Lists) -> Lists:
        return replace(lists, labels=(lists.labels >= parameters.threshold).astype(np.float32))

    return split.change(Split._fields, change)


def label_flips(split: Split, parameters: Flips, generator: np.random.Generator) -> Split:
    """Draw new labels for a share of each list's documents, without replacement, whatever the old ones."""

    def change(lists: Lists) -> Lists:
        counts = np.repeat(_rounded_shares(lists, parameters.share), lists.lengths)
        selected = _random_places(lists, generator) < counts
        labels = lists.labels.copy()
        labels[selected] = generator.choice(len(parameters.law), size=int(selected.sum()), p=parameters.law)
        return replace(lists, labels=labels)

    return split.change(parameters.parts, change)


def negative_augmentation(split: Split, parameters: Augmentation, generator: np.random.Generator) -> Split:
    """Lengthen lists by a share of their length, with training documents of other queries, labelled 0."""
    donors = split.train
    if len(donors) < 2 and parameters.share > 0:
        raise DataError("negative_augmentation draws from other training queries, but there is only one query")

    def change(lists: Lists) -> Lists:
        counts = _rounded_shares(lists, parameters.share)
        if lists is donors:
            sampled = _documents_of_others(donors, counts, generator)
        else:
            sampled = generator.integers(donors.documents, size=int(counts.sum()))
        return _lengthened(lists, counts, donors, sampled)

    return split.change(parameters.parts, change)


def _documents_of_others(lists: Lists, counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """Sample documents for each query, uniform with replacement among those that are not its own."""
    own = np.repeat(lists.lengths, counts)
    sampled = generator.integers(lists.documents - own)
    return sampled + np.where(sampled >= np.repeat(lists.starts[:-1], counts), own, 0)


def _lengthened(lists: Lists, counts: NDArray[np.int64], donors: Lists, sampled: NDArray[np.int64]) -> Lists:
    """Append to each list its share of the sampled documents."""
    starts = np.concatenate(([0], np.cumsum(lists.lengths + counts)))
    added = np.repeat(starts[1:] - np.cumsum(counts), counts) + np.arange(sampled.size)
    documents = np.full(int(starts[-1]), -1)
    documents[added] = lists.documents + sampled
    documents[documents < 0] = np.arange(lists.documents)
    clicks = None if lists.clicks is None else lists.clicks.unseen(donors.documents)
    negatives = replace(donors, labels=np.zeros_like(donors.labels), clicks=clicks)
    joined = Lists.gather([lists, negatives], documents, starts, np.arange(len(lists)))
    return replace(joined, source=lists.source)


def random_split(split: Split, parameters: RandomSplitParameters, generator: np.random.Generator) -> Split:
    """Pool all parts and split them again by query, without replacement (Bruch, WWW 2021, uses 60/20/20).

    Which query goes where depends on its id and the generator alone, not on the fold that was loaded.
    """
    ids = np.concatenate([part.query_ids for part in split])
    values, counts = np.unique(ids, return_counts=True)
    if values.size != ids.size:
        repeated = values[np.argmax(counts > 1)]
        raise DataError(
            f"query {repeated} stands {counts.max()} times in train, valid and test, so that a random split would put"
            " it into several parts; apply random_split before transforms that repeat queries"
        )
    by_id = np.argsort(ids)
    selected = divide(ids.size, (parameters.train, parameters.valid), generator)
    return Split(*(_pick(split, np.sort(by_id[ranks])) for ranks in selected))


def divide(queries: int, shares: Sequence[float], generator: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Draw the positions of the queries of each part, in rising order; one part more than shares, with what is left.

    >>> [part.size for part in divide(10, (0.6, 0.2), np.random.default_rng(0))]
    [6, 2, 2]
    """
    order = generator.permutation(queries)
    cuts = np.round(np.cumsum(shares) * queries).astype(np.int64)
    parts = np.split(order, cuts)
    if any(part.size == 0 for part in parts):
        raise DataError(f"{queries} queries are too few for parts of {', '.join(f'{share:g}' for share in shares)}")
    return tuple(np.sort(part) for part in parts)


def _pick(pool: Sequence[Lists], queries: NDArray[np.int64]) -> Lists:
    """Return some queries of several lists, numbered consecutively; each document is copied once."""
    lengths = np.concatenate([part.lengths for part in pool])
    firsts = np.cumsum(lengths) - lengths
    starts = np.concatenate(([0], np.cumsum(lengths[queries])))
    return Lists.gather(pool, ranges(firsts[queries], lengths[queries]), starts, queries)


def _keep_queries(lists: Lists, selected: NDArray[np.bool_], dropped: str) -> Lists:
    """Return the queries marked in ``selected``, the same object when all are; at least one must be left.

    Args:
        lists: the queries.
        selected: boolean array of shape (queries,).
        dropped: what the dropped queries have in common, for the message when nothing is left.
    """
    if selected.all():
        return lists
    if not selected.any():
        where = lists.source or "these lists"
        raise NothingLeftError(f"every one of the {len(lists)} queries of {where} {dropped}, so none would be left")
    return lists[selected]


def _keep_documents(lists: Lists, selected: NDArray[np.bool_], dropped: str) -> Lists:
    """Return the documents marked in ``selected``; a query that loses all of its documents is removed."""
    if selected.all():
        return lists
    lengths = np.add.reduceat(selected.astype(np.int64), lists.starts[:-1])
    if not lengths.any():
        where = lists.source or "these lists"
        raise NothingLeftError(
            f"every one of the {lists.documents} documents of {where} {dropped}, so none would be left"
        )
    starts = np.concatenate(([0], np.cumsum(lengths[lengths > 0])))
    return lists.take(np.flatnonzero(selected), starts, np.flatnonzero(lengths))


def _random_places(lists: Lists, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return a random permutation of each list: the position of each document in its own list, from 0."""
    order = np.lexsort((generator.random(lists.documents), lists.query_of_document))
    positions = np.empty(lists.documents, np.int64)
    positions[order] = np.arange(lists.documents) - np.repeat(lists.starts[:-1], lists.lengths)
    return positions


def _rounded_shares(lists: Lists, share: float) -> NDArray[np.int64]:
    """Return a share of each list's length as a whole number of documents, halves rounded up."""
    counts: NDArray[np.int64] = np.floor(share * lists.lengths + 0.5).astype(np.int64)
    return counts
