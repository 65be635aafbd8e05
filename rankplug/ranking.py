"""Compiled building blocks for functions of one list: the order of scores, gains and the ideal DCG."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Order = NDArray[np.int32]

MOVES_A_DOCUMENT = 6
"""Moves after which putting in place one by one is given up."""
STEPS_OUT_OF_ORDER = 8
"""One in so many neighbours may stand the wrong way round for a list to count as nearly in order."""


@njit(nogil=True, error_model="numpy")
def sort_best_first(scores: Doubles, order: Order) -> Doubles:
    """Makes ``order`` the documents by descending score, ties by position; returns the scores in that order.

    It starts from what ``order`` holds: scores change little between iterations, so a list that was sorted before needs
    few moves. One that is far off is first spread over as many equal steps of score as it has documents. The order is
    total, so the result does not depend on where it started.
    """
    sorted_scores = np.empty(scores.size)
    wrong = 0
    for place in range(scores.size):
        sorted_scores[place] = scores[order[place]]
    for place in range(1, scores.size):
        wrong += sorted_scores[place - 1] < sorted_scores[place]
    if wrong * STEPS_OUT_OF_ORDER <= scores.size and _put_in_place(sorted_scores, order):
        return sorted_scores
    _spread_by_score(scores, order)
    for place in range(scores.size):
        sorted_scores[place] = scores[order[place]]
    if not _put_in_place(sorted_scores, order):
        order[:] = np.argsort(-scores, kind="mergesort")
        for place in range(scores.size):
            sorted_scores[place] = scores[order[place]]
    return sorted_scores


@njit(nogil=True, error_model="numpy")
def _put_in_place(sorted_scores: Doubles, order: Order) -> bool:
    """Insertion sort of both; False if it was given up."""
    moves = 0
    for place in range(1, order.size):
        document, score = order[place], sorted_scores[place]
        gap = place - 1
        while gap >= 0 and (sorted_scores[gap] < score or (sorted_scores[gap] == score and order[gap] > document)):
            order[gap + 1], sorted_scores[gap + 1] = order[gap], sorted_scores[gap]
            gap -= 1
        order[gap + 1], sorted_scores[gap + 1] = document, score
        moves += place - 1 - gap
        if moves > MOVES_A_DOCUMENT * order.size:
            return False
    return True


@njit(nogil=True, error_model="numpy")
def _spread_by_score(scores: Doubles, order: Order) -> None:
    """Counting sort into equal steps of score, best step first, by position inside a step."""
    best, worst = scores.max(), scores.min()
    scale = (scores.size - 1) / (best - worst)
    if not (0.0 < scale < np.inf and best - worst < np.inf):
        order[:] = np.arange(scores.size)
        return
    first = np.zeros(scores.size + 1, np.int32)
    for document in range(scores.size):
        first[int((best - scores[document]) * scale) + 1] += 1
    for step in range(scores.size):
        first[step + 1] += first[step]
    for document in range(scores.size):
        step = int((best - scores[document]) * scale)
        order[first[step]] = document
        first[step] += 1


@njit(nogil=True, error_model="numpy")
def gain(label: float) -> float:
    """The gain of a label, 2^label - 1."""
    whole = int(label)
    if whole == label and 0 <= whole < 62:
        return float((1 << whole) - 1)
    return float(2.0**label) - 1.0


@njit(nogil=True, error_model="numpy")
def ideal_dcg(labels: Doubles, cutoff: int) -> float:
    """The largest DCG of a list at a cut-off, with the discount 1 / log2(1 + rank)."""
    best = np.sort(labels)[::-1]
    total = 0.0
    for place in range(min(cutoff, best.size)):
        if best[place] <= 0:
            break
        total += gain(best[place]) / math.log2(place + 2.0)
    return total
