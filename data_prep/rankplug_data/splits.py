"""Random splits by query, whatever the official parts were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from rankplug.datasets import Split
from rankplug.errors import DataError
from rankplug.lists import Lists
from rankplug.parameters import Parameters


class RandomSplitParameters(Parameters):
    """Shares of the queries; the test part has the rest."""

    train: float = Field(0.6, gt=0, lt=1, description="share of the queries for training")
    valid: float = Field(0.2, gt=0, lt=1, description="share of the queries for validation")

    @model_validator(mode="after")
    def _leave_some_for_test(self) -> RandomSplitParameters:
        if self.train + self.valid >= 1:
            raise ValueError(f"train={self.train} and valid={self.valid} leave no query for the test part")
        return self


def random_split(split: Split, parameters: RandomSplitParameters, generator: np.random.Generator) -> Split:
    """All parts pooled and split anew by query, without replacement (Bruch, WWW 2021, uses 60/20/20)."""
    ids = np.concatenate([part.query_ids for part in split])
    values, counts = np.unique(ids, return_counts=True)
    if values.size != ids.size:
        repeated = values[np.argmax(counts > 1)]
        raise DataError(
            f"query {repeated} stands {counts.max()} times in train, valid and test, so that a random split would put"
            " it into several parts; apply random_split before transforms that repeat queries"
        )
    chosen = divide(ids.size, (parameters.train, parameters.valid), generator)
    return Split(*(pick(split, queries) for queries in chosen))


def divide(queries: int, shares: Sequence[float], generator: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Positions of the queries of each part, in rising order; one part more than shares, with what is left.

    >>> [part.size for part in divide(10, (0.6, 0.2), np.random.default_rng(0))]
    [6, 2, 2]
    """
    order = generator.permutation(queries)
    cuts = np.round(np.cumsum(shares) * queries).astype(np.int64)
    parts = np.split(order, cuts)
    if any(part.size == 0 for part in parts):
        raise DataError(f"{queries} queries are too few for parts of {', '.join(f'{share:g}' for share in shares)}")
    return tuple(np.sort(part) for part in parts)


def pick(pool: Sequence[Lists], queries: NDArray[np.int64]) -> Lists:
    """Some queries of several lists, counted through; each document is copied once."""
    begins = np.cumsum([0, *(len(part) for part in pool)])
    inside = [queries[(queries >= first) & (queries < last)] - first for first, last in zip(begins, begins[1:])]
    lengths = np.concatenate([part.lengths[chosen] for part, chosen in zip(pool, inside, strict=True)])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    features = np.empty((int(starts[-1]), pool[0].features.shape[1]), np.float32)
    row = 0
    for part, chosen in zip(pool, inside, strict=True):
        rows = part.rows(chosen)
        np.take(part.features, rows, axis=0, out=features[row : row + rows.size])
        row += rows.size

    def gathered(arrays: Sequence[NDArray[Any] | None], by_query: bool) -> NDArray[Any] | None:
        present = [array for array in arrays if array is not None]
        if len(present) < len(pool):
            return None
        picked = [
            array[chosen if by_query else part.rows(chosen)]
            for array, part, chosen in zip(present, pool, inside, strict=True)
        ]
        return np.concatenate(picked)

    labels = gathered([part.labels for part in pool], by_query=False)
    query_ids = gathered([part.query_ids for part in pool], by_query=True)
    assert labels is not None and query_ids is not None
    return Lists(
        features,
        labels,
        starts,
        query_ids,
        gathered([part.document_ids for part in pool], by_query=False),
        " + ".join(dict.fromkeys(part.source for part in pool if part.source)),
    )
