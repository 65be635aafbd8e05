"""Compiled building blocks for functions of one list: the order of scores, gains and the ideal DCG."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled.parts import part

Doubles = NDArray[np.float64]
Order = NDArray[np.int32]

MOVES_A_DOCUMENT = 6
"""Moves after which putting in place one by one is given up."""
STEPS_A_DOCUMENT = 3
"""So fine are the steps of score over which a list is spread before insertion."""
STEPS_OUT_OF_ORDER = 8
"""One in so many neighbours may stand the wrong way round for a list to count as nearly in order."""
PLACES_LOOKED_AT = 64


@part(nogil=True, error_model="numpy")
def sort_best_first(scores: Doubles, order: Order) -> Doubles:
    """Sort the documents into ``order`` by descending score, ties by position; return the scores in that order.

    It starts from what ``order`` holds: scores change little between iterations, so a list that was sorted before needs
    few moves. One that is far off is first spread over equal steps of score, more than it has documents. The order is
    total, so the result does not depend on where it started.
    """
    sorted_scores = np.empty(scores.size)
    few_moves = MOVES_A_DOCUMENT * scores.size
    nearly = _is_nearly_sorted(scores, order)
    if nearly:
        _take(scores, order, sorted_scores)
    if not nearly or not _put_in_place(sorted_scores, order, 1, few_moves):
        _spread_by_score(scores, order)
        _take(scores, order, sorted_scores)
        if not _put_in_place(sorted_scores, order, 1, few_moves):
            _shell_sort(sorted_scores, order)
    return sorted_scores


@part(nogil=True, error_model="numpy")
def _is_nearly_sorted(scores: Doubles, order: Order) -> bool:
    """Tell from the first ranks whether few neighbours are out of order."""
    ranks = min(order.size, PLACES_LOOKED_AT)
    wrong = 0
    for position in range(1, ranks):
        wrong += scores[order[position - 1]] < scores[order[position]]
    return wrong * STEPS_OUT_OF_ORDER <= ranks


@part(nogil=True, error_model="numpy")
def _take(scores: Doubles, order: Order, out: Doubles) -> None:
    for position in range(order.size):
        out[position] = scores[order[position]]


@part(nogil=True, error_model="numpy")
def _put_in_place(sorted_scores: Doubles, order: Order, stride: int, most_moves: int) -> bool:
    """Sort both by insertion among ranks that are ``stride`` apart; return False if it took too many moves."""
    moves = 0
    for position in range(stride, order.size):
        document, score = order[position], sorted_scores[position]
        gap = position - stride
        while gap >= 0 and (sorted_scores[gap] < score or (sorted_scores[gap] == score and order[gap] > document)):
            order[gap + stride], sorted_scores[gap + stride] = order[gap], sorted_scores[gap]
            gap -= stride
            moves += 1
        order[gap + stride], sorted_scores[gap + stride] = document, score
        if moves > most_moves:
            return False
    return True


@part(nogil=True, error_model="numpy")
def _shell_sort(sorted_scores: Doubles, order: Order) -> None:
    """Sort scores of very uneven spread by insertion at strides that shrink by Tokuda's factor of 4/9."""
    stride = order.size
    while stride > 1:
        stride = max(1, 4 * stride // 9)
        _put_in_place(sorted_scores, order, stride, order.size * order.size)


@part(nogil=True, error_model="numpy")
def _spread_by_score(scores: Doubles, order: Order) -> None:
    """Sort by counting into equal steps of score, best step first, by position inside a step."""
    best = worst = scores[0]
    for document in range(scores.size):
        best, worst = max(best, scores[document]), min(worst, scores[document])
    steps = STEPS_A_DOCUMENT * scores.size
    scale = (steps - 1) / (best - worst)
    if not (0.0 < scale < np.inf and best - worst < np.inf):
        for document in range(scores.size):
            order[document] = document
        return
    first = np.zeros(steps + 1, np.int32)
    for document in range(scores.size):
        first[int((best - scores[document]) * scale) + 1] += 1
    for step in range(steps):
        first[step + 1] += first[step]
    for document in range(scores.size):
        step = int((best - scores[document]) * scale)
        order[first[step]] = document
        first[step] += 1


@part(nogil=True, error_model="numpy")
def gain(label: float) -> float:
    """Return the gain of a label, 2^label - 1."""
    whole = int(label)
    if whole == label and 0 <= whole < 62:
        return float((1 << whole) - 1)
    return float(2.0**label) - 1.0


@part(nogil=True, error_model="numpy")
def ideal_dcg(labels: Doubles, cutoff: int) -> float:
    """Return the largest DCG of a list at a cut-off, with the discount 1 / log2(1 + rank)."""
    order = np.empty(labels.size, np.int32)
    for document in range(labels.size):
        order[document] = document
    best = sort_best_first(labels, order)
    total = 0.0
    for position in range(min(cutoff, best.size)):
        if best[position] <= 0:
            break
        total += gain(best[position]) * (1.0 / math.log2(position + 2.0))
    return total


@part(nogil=True, error_model="numpy")
def fill_dcg_constants(labels: Doubles, cutoff: int, constants: Doubles) -> None:
    """Fill one over the ideal DCG (0 where that is 0), each document's gain, and the discount of each rank."""
    ideal = ideal_dcg(labels, cutoff)
    constants[0] = 1.0 / ideal if ideal > 0 else 0.0
    for document in range(labels.size):
        constants[1 + document] = gain(labels[document])
        constants[1 + labels.size + document] = 1.0 / math.log2(document + 2.0)
