"""Compiled building blocks that put the documents of one list in order, best first, as far as a metric looks."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rankplug.noise import key_of, uniform

Doubles = NDArray[np.float64]
Order = NDArray[np.int32]

STABLE, WORST, RANDOM = 0, 1, 2
LONGEST_SELECTION = 32
LARGEST_COUNTED_LABEL = 31


@njit(nogil=True, error_model="numpy")
def order_documents(
    scores: Doubles, labels: Doubles, ties: int, tie_seed: int, query: int, depth: int, order: Order
) -> None:
    """Fills at least the first ``depth`` places of ``order`` with the documents of highest score.

    Args:
        scores: of one list.
        labels: of one list; they decide only where ``ties`` is ``WORST``.
        ties: the order of equal scores: by position, least relevant first, or random.
        tie_seed: of the random order.
        query: the list's position, so that each list has an order of its own.
        depth: the places that matter.
        order: as long as the list.
    """
    if ties == STABLE and depth <= LONGEST_SELECTION and depth < scores.size:
        _select(scores, depth, order)
        return
    order[:] = np.argsort(-scores, kind="mergesort")
    if ties == WORST:
        _reorder_ties(scores, labels, order)
    elif ties == RANDOM:
        key = key_of(tie_seed, 0, query, 0)
        draws = np.empty(scores.size)
        for document in range(scores.size):
            draws[document] = uniform(key, document)
        _reorder_ties(scores, draws, order)


@njit(nogil=True, error_model="numpy")
def _select(scores: Doubles, depth: int, order: Order) -> None:
    """Keeps the best documents seen so far in order; most documents of a long list are turned away at once."""
    held = 0
    for document in range(scores.size):
        score = scores[document]
        if held == depth:
            if scores[order[held - 1]] >= score:
                continue
            gap = held - 2
        else:
            gap = held - 1
            held += 1
        while gap >= 0 and scores[order[gap]] < score:
            order[gap + 1] = order[gap]
            gap -= 1
        order[gap + 1] = document


@njit(nogil=True, error_model="numpy")
def _reorder_ties(scores: Doubles, smallest_first: Doubles, order: Order) -> None:
    begin = 0
    while begin < order.size:
        end = begin + 1
        while end < order.size and scores[order[end]] == scores[order[begin]]:
            end += 1
        if end > begin + 1:
            tied = order[begin:end].copy()
            order[begin:end] = tied[np.argsort(smallest_first[tied], kind="mergesort")]
        begin = end


@njit(nogil=True, error_model="numpy")
def sort_labels(labels: Doubles, best_first: Doubles) -> None:
    """Fills ``best_first``, which may be shorter than the list, with the largest labels, largest first."""
    counts = np.zeros(LARGEST_COUNTED_LABEL + 1, np.int64)
    for label in labels:
        if label > LARGEST_COUNTED_LABEL or label != np.floor(label):
            best_first[:] = np.sort(labels)[::-1][: best_first.size]
            return
        counts[int(label)] += 1
    place = 0
    for label in range(LARGEST_COUNTED_LABEL, -1, -1):
        for _ in range(min(counts[label], best_first.size - place)):
            best_first[place] = label
            place += 1
