"""Scales features: per query, by the training part's moments, or by the logarithm."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction
from rankplug.data import Lists, Scaling, Split, over_lists, signed_log1p
from rankplug.registry import Parameters
from rankplug.system import workers

Matrix = NDArray[np.float32]
BLOCK_ROWS = 8192


@ArrayFunction
def _query_minmax(features: Matrix, starts: NDArray[np.int64], begin: int, end: int, scaled: Matrix) -> None:
    width = features.shape[1]
    lowest, span = np.empty(width), np.empty(width)
    for query in range(begin, end):
        first, last = starts[query], starts[query + 1]
        for column in range(width):
            lowest[column] = span[column] = features[first, column]
        for row in range(first + 1, last):
            for column in range(width):
                value = features[row, column]
                lowest[column] = min(lowest[column], value)
                span[column] = max(span[column], value)
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
    return dataclasses.replace(lists, features=scaled)
