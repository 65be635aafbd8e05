"""Checks of the parts of lists: offsets, query ids, labels and names of features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.errors import DataError, shown
from rankplug.system import distinct, identifiers, numbers, whole_number

Integers = NDArray[np.int64]


def check_starts(starts: ArrayLike, documents: int) -> Integers:
    """Check that offsets begin at 0, end at the number of documents and never decrease; return them as int64."""
    offsets = numbers(starts, "starts", "int64")
    if offsets.ndim != 1 or offsets.size == 0:
        raise DataError(f"starts must be one row of offsets, one a query and the total last; got shape {offsets.shape}")
    if offsets[0] != 0:
        raise DataError(f"starts must begin with 0, got {offsets[0]}")
    if offsets[-1] != documents:
        raise DataError(
            f"starts must end with the number of documents, {documents}, got {offsets[-1]}"
            " (starts has one entry a query and one more at the end)"
        )
    steps = np.diff(offsets)
    if steps.size and steps.min() < 1:
        query = int(np.argmin(steps))
        raise DataError(f"query number {query} has {steps[query]} documents in starts; every query needs at least one")
    return offsets


def starts_of(query_ids: ArrayLike) -> Integers:
    """Return offsets from one query id a document; the documents of a query must lie together.

    >>> starts_of([7, 7, 3, 3, 3]).tolist()
    [0, 2, 5]
    """
    ids = identifiers(query_ids, "query ids")
    if ids.size == 0:
        return np.zeros(1, np.int64)
    changes = np.flatnonzero(ids[1:] != ids[:-1]) + 1
    starts = np.concatenate(([0], changes, [ids.size])).astype(np.int64)
    heads = ids[starts[:-1]]
    queries = distinct(heads, "query ids")
    if queries.values.size != heads.size:
        repeated = queries.values[np.argmax(queries.times > 1)]
        where = np.flatnonzero(heads == repeated)
        raise DataError(
            f"query id {repeated!s} stands in two places, at document {starts[where[0]]} and again at document"
            f" {starts[where[1]]}; sort the documents by query"
        )
    return starts


def check_labels(labels: NDArray[Any], where: str = "") -> None:
    """Raise an error if a label is not a finite number of zero or more."""
    bad = np.flatnonzero(~(np.isfinite(labels) & (labels >= 0)))
    if bad.size:
        raise DataError(
            f"label {labels[bad[0]]} of document {bad[0]}{where} is not a finite number of zero or more"
            f" ({bad.size} such)"
        )


def checked_features(
    names: Sequence[str], categorical: Sequence[int], features: int
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the names of features, one a column or none, and the positions of the categorical ones, in order."""
    if isinstance(names, str) or not isinstance(names, Iterable) or not isinstance(categorical, Iterable):
        raise DataError(
            f"feature_names is a list of texts and categorical one of numbers, got {shown(names)} and"
            f" {shown(categorical)}"
        )
    named = tuple(map(str, names))
    if named and len(named) != features:
        raise DataError(f"there are {features} features, but {len(named)} feature names")
    if len(set(named)) != len(named):
        repeated = next(name for name in named if named.count(name) > 1)
        raise DataError(f"two features have the name {repeated}; every feature needs a name of its own")
    positions = tuple(
        sorted({whole_number(position, "the position of a categorical feature") for position in categorical})
    )
    if positions and positions[-1] >= features:
        raise DataError(f"categorical names the feature {positions[-1]}; there are {features}, counted from 0")
    return named, positions
