"""Compiled building blocks for functions of one list: the order of scores, gains and the ideal DCG."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Order = NDArray[np.int32]

MOVES_BEFORE_SORTING = 12


@njit(nogil=True, error_model="numpy")
def sort_best_first(scores: Doubles, order: Order) -> None:
    """Makes ``order`` the documents by descending score, ties by position, starting from what it holds.

    Scores change little between iterations, so a list that was sorted before needs few moves; one that is far off is
    sorted anew. The order is total, so the result does not depend on where it started.
    """
    documents = scores.size
    moves = 0
    for place in range(1, documents):
        document = order[place]
        score = scores[document]
        gap = place - 1
        while gap >= 0 and (scores[order[gap]] < score or (scores[order[gap]] == score and order[gap] > document)):
            order[gap + 1] = order[gap]
            gap -= 1
        order[gap + 1] = document
        moves += place - 1 - gap
        if moves > MOVES_BEFORE_SORTING * documents:
            order[:] = np.argsort(-scores, kind="mergesort")
            return


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
