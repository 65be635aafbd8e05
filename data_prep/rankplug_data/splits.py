"""Random splits by query, whatever the official parts were."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Lists, Split, ranges
from rankplug.errors import DataError
from rankplug_data.file_specifications import RandomSplitParameters


def random_split(split: Split, parameters: RandomSplitParameters, generator: np.random.Generator) -> Split:
    """Pool all parts and split them anew by query, without replacement (Bruch, WWW 2021, uses 60/20/20).

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
    chosen = divide(ids.size, (parameters.train, parameters.valid), generator)
    return Split(*(pick(split, np.sort(by_id[ranks])) for ranks in chosen))


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


def pick(pool: Sequence[Lists], queries: NDArray[np.int64]) -> Lists:
    """Return some queries of several lists, numbered consecutively; each document is copied once."""
    lengths = np.concatenate([part.lengths for part in pool])
    firsts = np.cumsum(lengths) - lengths
    starts = np.concatenate(([0], np.cumsum(lengths[queries])))
    return Lists.gather(pool, ranges(firsts[queries], lengths[queries]), starts, queries)
