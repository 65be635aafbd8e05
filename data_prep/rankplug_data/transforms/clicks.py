"""Click logs simulated with a cascade: a user scans from the top, clicks with a label's probability, and leaves."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction, key_of, part, uniform
from rankplug.data import Lists, Split
from rankplug.errors import DataError
from rankplug_data.over_lists import over_lists
from rankplug_data.transforms.parameters import Clicks
from rankplug_data.transforms.selection import over_parts


def cascade_clicks(split: Split, parameters: Clicks, generator: np.random.Generator) -> Split:
    """Replace training and validation lists by impressions; the test part keeps its labels.

    Each query is shown ``impressions`` times, its documents in uniformly random order. An impression is what was seen:
    the documents up to the first click, the clicked one with label 1 and all before it with label 0. Without a click it
    is the whole list with label 0, which validation never keeps, as no metric is defined on it, and training only with
    ``keep_clickless``.
    """

    def change(lists: Lists, keep_clickless: bool) -> Lists:
        check_clickable(lists, len(parameters.probabilities), "cascade_clicks")
        seed = int(generator.integers(1 << 63))
        return _impressions(lists, seed, parameters, keep_clickless)

    split = over_parts(split, ("train",), lambda lists: change(lists, parameters.keep_clickless))
    return over_parts(split, ("valid",), lambda lists: change(lists, False))


def check_clickable(lists: Lists, known: int, transform: str) -> None:
    """Raise an error if a label has no click probability."""
    wrong = np.flatnonzero((lists.labels != np.floor(lists.labels)) | (lists.labels < 0) | (lists.labels >= known))
    if wrong.size:
        raise DataError(
            f"{transform} knows click probabilities of the labels 0 to {known - 1}, but document {wrong[0]}"
            f" has label {lists.labels[wrong[0]]:g}; give them with law"
        )


def _impressions(lists: Lists, seed: int, parameters: Clicks, keep_clickless: bool) -> Lists:
    law = np.array(parameters.probabilities)
    shape = (len(lists), parameters.impressions)
    seen, clicked = np.empty(shape, np.int64), np.empty(shape, np.bool_)
    over_lists(
        lists.lengths,
        parameters.impressions,
        lambda begin, end: _scan(lists.labels, lists.starts, law, seed, begin, end, seen, clicked),
    )
    kept = clicked | keep_clickless
    if not kept.any():
        raise DataError(f"no document of {lists.source or 'these lists'} was clicked in any impression")
    starts = np.concatenate(([0], np.cumsum(seen[kept])))
    first = np.zeros(shape, np.int64)
    first[kept] = starts[:-1]
    rows = np.empty(int(starts[-1]), np.int64)
    over_lists(
        lists.lengths,
        parameters.impressions,
        lambda begin, end: _collect(lists.labels, lists.starts, law, seed, begin, end, kept, first, rows),
    )
    labels = np.zeros(rows.size, np.float32)
    labels[starts[1:][clicked[kept]] - 1] = 1.0
    query, impression = np.nonzero(kept)
    names = np.strings.add(np.strings.add(lists.query_ids[query].astype(str), "#"), (impression + 1).astype(str))
    return dataclasses.replace(lists.take(rows, starts, query), labels=labels, query_ids=names)


@part(nogil=True)
def _show(key: np.uint64, labels: NDArray[np.float32], law: NDArray[np.float64], order: NDArray[np.int64]) -> int:
    """Shuffle ``order`` as far as the user reads, and return how far that is; negative if nothing was clicked."""
    size = order.size
    for position in range(size):
        other = position + min(int(uniform(key, 2 * position) * (size - position)), size - position - 1)
        document = order[other]
        order[other] = order[position]
        order[position] = document
        if uniform(key, 2 * position + 1) < law[int(labels[document])]:
            return position + 1
    return -size


@ArrayFunction
def _scan(
    labels: NDArray[np.float32],
    starts: NDArray[np.int64],
    law: NDArray[np.float64],
    seed: int,
    begin: int,
    end: int,
    seen: NDArray[np.int64],
    clicked: NDArray[np.bool_],
) -> None:
    """Count the documents that are seen in each impression, and tell whether the last of them is clicked."""
    for query in range(begin, end):
        own = labels[starts[query] : starts[query + 1]]
        for impression in range(seen.shape[1]):
            read = _show(key_of(seed, 0, query, impression), own, law, np.arange(own.size))
            seen[query, impression], clicked[query, impression] = abs(read), read > 0


@ArrayFunction
def _collect(
    labels: NDArray[np.float32],
    starts: NDArray[np.int64],
    law: NDArray[np.float64],
    seed: int,
    begin: int,
    end: int,
    kept: NDArray[np.bool_],
    first: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> None:
    """Collect the documents of the kept impressions in the order in which they are seen, drawing them again."""
    for query in range(begin, end):
        own = labels[starts[query] : starts[query + 1]]
        for impression in range(kept.shape[1]):
            if kept[query, impression]:
                order = np.arange(own.size)
                read = abs(_show(key_of(seed, 0, query, impression), own, law, order))
                # A loop, as numba compiles an assignment of whole slices for seconds.
                for place in range(read):
                    rows[first[query, impression] + place] = starts[query] + order[place]
