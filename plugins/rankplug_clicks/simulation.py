"""Simulated clicks: a cascade over shuffled documents, and logs of users who look less at lower positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction, key_of, part, uniform
from rankplug.data import Lists, Scaling, Split, over_lists
from rankplug.errors import DataError
from rankplug_clicks.clicks import Clicks
from rankplug_clicks.plugin import CascadeClicks, ClickLog

USERS = {"position": 0, "cascade": 1, "dbn": 2}
"""Click models, as the compiled loop names them."""
RIDGE = 1.0


def cascade_clicks(split: Split, parameters: CascadeClicks, generator: np.random.Generator) -> Split:
    """Replace training and validation lists by impressions; the test part keeps its labels.

    Each query is shown ``impressions`` times, its documents in uniformly random order. An impression is what was read:
    the documents up to the first click, the clicked one with label 1 and all before it with label 0. Without a click it
    is the whole list with label 0, which validation never keeps, as no metric is defined on it, and training only with
    ``keep_clickless``.
    """

    def change(lists: Lists, keep_clickless: bool) -> Lists:
        check_clickable(lists, len(parameters.probabilities), "cascade_clicks")
        seed = int(generator.integers(1 << 63))
        return _impressions(lists, seed, parameters, keep_clickless)

    split = split.change(("train",), lambda lists: change(lists, parameters.keep_clickless))
    return split.change(("valid",), lambda lists: change(lists, False))


def check_clickable(lists: Lists, known: int, transform: str) -> None:
    """Raise an error if a label has no click probability."""
    wrong = np.flatnonzero((lists.labels != np.floor(lists.labels)) | (lists.labels < 0) | (lists.labels >= known))
    if wrong.size:
        raise DataError(
            f"{transform} knows click probabilities of the labels 0 to {known - 1}, but document {wrong[0]}"
            f" has label {lists.labels[wrong[0]]:g}; give them with law"
        )


def _impressions(lists: Lists, seed: int, parameters: CascadeClicks, keep_clickless: bool) -> Lists:
    law = np.array(parameters.probabilities)
    shape = (len(lists), parameters.impressions)
    seen, clicked = np.empty(shape, np.int64), np.empty(shape, np.bool_)
    over_lists(
        lists.lengths,
        parameters.impressions,
        lambda begin, end: _scan(lists.labels, lists.starts, law, seed, begin, end, seen, clicked),
    )
    used = clicked | keep_clickless
    if not used.any():
        raise DataError(f"no document of {lists.source or 'these lists'} was clicked in any impression")
    starts = np.concatenate(([0], np.cumsum(seen[used])))
    first = np.zeros(shape, np.int64)
    first[used] = starts[:-1]
    rows = np.empty(int(starts[-1]), np.int64)
    over_lists(
        lists.lengths,
        parameters.impressions,
        lambda begin, end: _collect(lists.labels, lists.starts, law, seed, begin, end, used, first, rows),
    )
    labels = np.zeros(rows.size, np.float32)
    labels[starts[1:][clicked[used]] - 1] = 1.0
    query, impression = np.nonzero(used)
    names = np.strings.add(np.strings.add(lists.query_ids[query].astype(str), "#"), (impression + 1).astype(str))
    return replace(lists.take(rows, starts, query), labels=labels, query_ids=names)


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
    """Count the documents that a user reads in each impression, and mark whether the last of them is clicked."""
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
    used: NDArray[np.bool_],
    first: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> None:
    """Collect the documents of the used impressions in reading order, by the same noise again."""
    for query in range(begin, end):
        own = labels[starts[query] : starts[query + 1]]
        for impression in range(used.shape[1]):
            if used[query, impression]:
                order = np.arange(own.size)
                read = abs(_show(key_of(seed, 0, query, impression), own, law, order))
                # A loop, as numba compiles an assignment of whole slices for seconds.
                for place in range(read):
                    rows[first[query, impression] + place] = starts[query] + order[place]


@dataclass(frozen=True)
class Impressions:
    """Impressions one after another, each a few documents from the top down.

    Args:
        starts: offset of each impression, and the number of documents shown last.
        query: query of each impression.
        documents: documents shown.
        positions: their positions, from 1.
        clicked: whether a user clicked.
        examined: whether a user looked.
    """

    starts: NDArray[np.int64]
    query: NDArray[np.int64]
    documents: NDArray[np.int64]
    positions: NDArray[np.int64]
    clicked: NDArray[np.bool_]
    examined: NDArray[np.bool_]


def click_log(split: Split, parameters: ClickLog, generator: np.random.Generator) -> Split:
    """Replace labels of training and validation lists by grades of click rates, and record clicks with their truth.

    The ranker that shows documents is a linear one, fitted by least squares to the labels of a small share of the
    training queries. Documents behind the last position are never shown and have the label 0. ``lists=impressions``
    makes each impression a list of its own, of the documents it shows from the top down, labelled 1 for a click.
    """
    law = np.array(parameters.probabilities)
    scores = _logging_ranker(split.train, parameters.policy_share, generator)

    def change(lists: Lists) -> Lists:
        check_clickable(lists, law.size, "click_log")
        seed = int(generator.integers(1 << 63))
        seen = _shown(lists, scores(lists), law, parameters, seed)
        return (
            _of_impressions(lists, seen, parameters)
            if parameters.lists == "impressions"
            else _of_queries(lists, seen, parameters)
        )

    return split.change(("train", "valid"), change)


def _logging_ranker(
    train: Lists, share: float, generator: np.random.Generator
) -> Callable[[Lists], NDArray[np.float64]]:
    """Return the scores of a linear ranker that saw the labels of few queries."""
    scaling = Scaling.of("log", train.features)
    chosen = np.sort(generator.permutation(len(train))[: max(round(share * len(train)), 1)])
    known = train[chosen]
    features = scaling(known.features).astype(np.float64)
    gram = features.T @ features + RIDGE * np.eye(features.shape[1])
    weights = np.linalg.solve(gram, features.T @ (known.labels - known.labels.mean()))

    def scores(lists: Lists) -> NDArray[np.float64]:
        return np.asarray(scaling(lists.features).astype(np.float64) @ weights)

    return scores


def _shown(
    lists: Lists, scores: NDArray[np.float64], law: NDArray[np.float64], parameters: ClickLog, seed: int
) -> Impressions:
    order = np.lexsort((-scores, lists.query_of_document))
    sizes = np.minimum(lists.lengths, parameters.positions)
    offsets = np.concatenate(([0], np.cumsum(sizes * parameters.impressions)))
    total = int(offsets[-1])
    documents, clicked, examined = np.empty(total, np.int64), np.empty(total, np.bool_), np.empty(total, np.bool_)
    user = USERS[parameters.model]
    over_lists(
        sizes,
        parameters.impressions,
        lambda begin, end: _browse(
            lists.labels, lists.starts, order, offsets, sizes, law, user, parameters.eta, parameters.persistence,
            parameters.swaps, parameters.impressions, seed, begin, end, documents, clicked, examined,
        ),
    )  # fmt: skip
    query = np.repeat(np.arange(len(lists)), parameters.impressions)
    starts = np.concatenate(([0], np.cumsum(sizes[query])))
    positions = np.arange(total) - np.repeat(starts[:-1], sizes[query]) + 1
    return Impressions(starts, query, documents, positions, clicked, examined)


def _propensities(seen: Impressions, parameters: ClickLog) -> NDArray[np.float64]:
    """Return the true probability of a look at each position; where users stop somewhere, its mean."""
    if parameters.model == "position":
        return np.arange(1, seen.positions.max() + 1) ** -parameters.eta
    looks = np.bincount(seen.positions - 1, seen.examined)
    return np.asarray(looks / np.bincount(seen.positions - 1))


def _of_queries(lists: Lists, seen: Impressions, parameters: ClickLog) -> Lists:
    counted = Clicks.from_log(seen.documents, seen.positions, seen.clicked, size=lists.documents)
    clicks = replace(counted, true_propensities=_propensities(seen, parameters), true_labels=lists.labels)
    return replace(lists, labels=clicks.labels(), clicks=clicks)


def _of_impressions(lists: Lists, seen: Impressions, parameters: ClickLog) -> Lists:
    counted = Clicks.from_log(np.arange(seen.documents.size), seen.positions, seen.clicked)
    labels = lists.labels[seen.documents]
    clicks = replace(counted, true_propensities=_propensities(seen, parameters), true_labels=labels)
    number = np.arange(seen.query.size) % parameters.impressions + 1
    names = np.strings.add(np.strings.add(lists.query_ids[seen.query].astype(str), "#"), number.astype(str))
    shown = lists.take(seen.documents, seen.starts, seen.query)
    return replace(shown, labels=seen.clicked.astype(np.float32), query_ids=names, clicks=clicks)


@ArrayFunction
def _browse(
    labels: NDArray[np.float32],
    starts: NDArray[np.int64],
    order: NDArray[np.int64],
    offsets: NDArray[np.int64],
    sizes: NDArray[np.int64],
    law: NDArray[np.float64],
    user: int,
    eta: float,
    persistence: float,
    swaps: float,
    impressions: int,
    seed: int,
    begin: int,
    end: int,
    documents: NDArray[np.int64],
    clicked: NDArray[np.bool_],
    examined: NDArray[np.bool_],
) -> None:
    """Show each list again and again, and let a user read it from the top."""
    for query in range(begin, end):
        size = sizes[query]
        for impression in range(impressions):
            key = key_of(seed, 0, query, impression)
            first = offsets[query] + impression * size
            for place in range(size):
                documents[first + place] = order[starts[query] + place]
            if uniform(key, 0) < swaps:
                upper, lower = int(uniform(key, 1) * size), int(uniform(key, 2) * size)
                swapped = documents[first + upper]
                documents[first + upper] = documents[first + lower]
                documents[first + lower] = swapped
            there = True
            for place in range(size):
                attraction = law[int(labels[documents[first + place]])]
                looks = there
                if user == 0:
                    looks = uniform(key, 3 + 3 * place) < (place + 1.0) ** -eta
                clicks = looks and uniform(key, 4 + 3 * place) < attraction
                examined[first + place] = looks
                clicked[first + place] = clicks
                if user == 1 and clicks:
                    there = False
                if user == 2 and looks:
                    satisfied = clicks and uniform(key, 5 + 3 * place) < attraction
                    there = not satisfied and uniform(key, 3 + 3 * place) < persistence
