"""Cleaning: what cannot be learnt from, or would be counted twice, is left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction, mix
from rankplug.data import Lists, Split, over_lists
from rankplug_data.transforms.parameters import EveryPart, Truncation, WhatIsLearntFrom
from rankplug_data.transforms.selection import keep_documents, keep_queries, random_places


def drop_empty(split: Split, parameters: EveryPart, generator: np.random.Generator) -> Split:
    """Drop the queries that have no relevant document."""

    def change(lists: Lists) -> Lists:
        return keep_queries(lists, _largest(lists) > 0, "has no relevant document")

    return split.change(parameters.parts, change)


def drop_uniform(split: Split, parameters: WhatIsLearntFrom, generator: np.random.Generator) -> Split:
    """Drop the queries whose documents all have one label: no order of theirs is better than another."""

    def change(lists: Lists) -> Lists:
        smallest = np.minimum.reduceat(lists.labels, lists.starts[:-1])
        return keep_queries(lists, _largest(lists) > smallest, "has documents of one label only")

    return split.change(parameters.parts, change)


def drop_conflicting(split: Split, parameters: EveryPart, generator: np.random.Generator) -> Split:
    """Drop the documents that some document of their query equals in every feature but not in the label."""

    def change(lists: Lists) -> Lists:
        return keep_documents(lists, ~conflicting(lists), "conflicts with another")

    return split.change(parameters.parts, change)


def truncate_lists(split: Split, parameters: Truncation, generator: np.random.Generator) -> Split:
    """Truncate lists to at most ``size`` documents: the first ones, or random ones in their old order."""

    def change(lists: Lists) -> Lists:
        if parameters.keep == "random":
            positions = random_places(lists, generator)
        else:
            positions = np.arange(lists.documents) - np.repeat(lists.starts[:-1], lists.lengths)
        return keep_documents(lists, positions < parameters.size, "is cut off")

    return split.change(parameters.parts, change)


def conflicting(lists: Lists) -> NDArray[np.bool_]:
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
