"""Click logs: a weak ranker shows documents, with swaps at random, and simulated users click on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction, key_of, uniform
from rankplug.data import Clicks, Lists, Scaling, Split
from rankplug_data.over_lists import over_lists
from rankplug_data.transforms.clicks import check_clickable
from rankplug_data.transforms.parameters import ClickLog
from rankplug_data.transforms.selection import over_parts

USERS = {"position": 0, "cascade": 1, "dbn": 2}
"""Click models, as the compiled loop names them."""
RIDGE = 1.0


@dataclasses.dataclass(frozen=True)
class Impressions:
    """Impressions one after another, each a few documents from the top down.

    Args:
        starts: where each begins, and the number of documents shown last.
        query: of each impression.
        documents: shown.
        positions: where, from 1.
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

    return over_parts(split, ("train", "valid"), change)


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
    clicks = dataclasses.replace(counted, true_propensities=_propensities(seen, parameters), true_labels=lists.labels)
    return dataclasses.replace(lists, labels=clicks.labels(), clicks=clicks)


def _of_impressions(lists: Lists, seen: Impressions, parameters: ClickLog) -> Lists:
    counted = Clicks.from_log(np.arange(seen.documents.size), seen.positions, seen.clicked)
    labels = lists.labels[seen.documents]
    clicks = dataclasses.replace(counted, true_propensities=_propensities(seen, parameters), true_labels=labels)
    number = np.arange(seen.query.size) % parameters.impressions + 1
    names = np.strings.add(np.strings.add(lists.query_ids[seen.query].astype(str), "#"), number.astype(str))
    shown = lists.take(seen.documents, seen.starts, seen.query)
    return dataclasses.replace(shown, labels=seen.clicked.astype(np.float32), query_ids=names, clicks=clicks)


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
                one, other = int(uniform(key, 1) * size), int(uniform(key, 2) * size)
                kept = documents[first + one]
                documents[first + one] = documents[first + other]
                documents[first + other] = kept
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
