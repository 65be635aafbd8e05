"""Compiled building blocks that put the documents of one list in order, with gains and the ideal DCG.

Losses sort a whole list whose order changes little between iterations (:func:`sort_best_first`); metrics look only at
the first places and have rules for ties (:func:`order_documents`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled.functions import part

Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
Order = NDArray[np.int32]

CALLED = {"forceinline": False}
"""Option of what compares numbers and computes none: its callers need not contain it, and compile faster."""
STABLE, WORST, RANDOM = 0, 1, 2
LONGEST_SELECTION = 32
LONGEST_COUNTED_LIST = 512
LEVEL = LONGEST_COUNTED_LIST
LANES = 32
LARGEST_COUNTED_LABEL = 31
MOVES_A_DOCUMENT = 6
"""Moves after which putting in place one by one is given up."""
STEPS_A_DOCUMENT = 3
"""So fine are the steps of score over which a list is spread before insertion."""
STEPS_OUT_OF_ORDER = 8
"""One in so many neighbours may stand the wrong way round for a list to count as nearly in order."""
PLACES_LOOKED_AT = 64
TABLED_PLACES = 1024
DISCOUNTS = np.array([1.0 / math.log2(place + 2.0) for place in range(TABLED_PLACES)])


@part(nogil=True, error_model="numpy")
def usable(scores: Doubles, labels: Doubles) -> bool:
    """Tell whether no score of a list is nan and all labels are finite and zero or more."""
    usable_so_far = True
    for document in range(scores.size):
        score, label = scores[document], labels[document]
        usable_so_far &= (score == score) & (label >= 0.0) & (label < np.inf)
    return usable_so_far


@part(nogil=True, error_model="numpy")
def rank_labels(scores: Doubles, labels: Doubles, ties: int, tie_keys: Doubles, order: Order, ranked: Doubles) -> None:
    """Fill ``ranked``, which may be shorter than the list, with the labels of the documents in order, best first.

    The other arguments are those of :func:`order_documents`; ``order`` is working space as long as the list.
    """
    if ties == STABLE and ranked.size <= LONGEST_SELECTION:
        select_labels(scores, labels, order, ranked)
        return
    if ties == STABLE and scores.size <= LONGEST_COUNTED_LIST:
        _count_ranks(scores, labels, ranked)
        return
    order_documents(scores, ties, tie_keys, order)
    for position in range(ranked.size):
        ranked[position] = labels[order[position]]


@part(nogil=True, error_model="numpy", **CALLED)
def _count_ranks(scores: Doubles, labels: Doubles, ranked: Doubles) -> None:
    """Count, for each relevant document, those above it: more comparisons than a sort, but all of them vectorised.

    In single precision twice as many fit a register. Rounding keeps the order and can only make scores equal, so that
    a document that is level with no other there is counted rightly; the few that are not are counted again.
    """
    documents = scores.size
    padded = np.full((documents + LANES - 1) // LANES * LANES, np.float32(-np.inf), np.float32)
    # numba compiles an assignment of whole slices for seconds, because of the message for shapes that differ.
    for document in range(documents):
        padded[document] = np.float32(scores[document])
    ranked[:] = 0.0
    # Gathered first, without a branch that nobody could predict.
    relevant = np.empty(documents + 1, np.int32)
    nonzero = 0
    for document in range(documents):
        relevant[nonzero] = document
        nonzero += 1 if labels[document] != 0.0 else 0
    for document in relevant[:nonzero]:
        counted = int(_above_and_level(padded, padded[document]))
        first = counted - LEVEL
        if first >= LEVEL:
            first = _places_above(scores, document)
        if first < ranked.size:
            ranked[first] = labels[document]


@part(nogil=True, error_model="numpy", fastmath={"reassoc", "nsz"})
def _above_and_level(scores: Singles, score: np.float32) -> np.float32:
    """Add up 1 for each score above one and ``LEVEL`` for each that is level; such sums are exact in any order."""
    total = np.float32(0)
    for position in range(scores.size):
        level = np.float32(LEVEL) if scores[position] == score else np.float32(0)
        total += np.float32(1) if scores[position] > score else level
    return total


@part(nogil=True, error_model="numpy")
def _places_above(scores: Doubles, document: int) -> int:
    """Count the documents above one, of those with its score the earlier ones."""
    above = 0
    for other in range(scores.size):
        above += 1 if scores[other] > scores[document] else 0
    for earlier in range(document):
        above += 1 if scores[earlier] == scores[document] else 0
    return above


@part(nogil=True, error_model="numpy", **CALLED)
def order_documents(scores: Doubles, ties: int, tie_keys: Doubles, order: Order) -> None:
    """Fill ``order`` with the documents from the highest score to the lowest.

    Args:
        scores: float array of shape (documents,).
        ties: whether equal scores stand by position (``STABLE``) or by their keys.
        tie_keys: float array of shape (documents,); the smallest stands first among equal scores.
        order: int array of shape (documents,) to fill.
    """
    for document in range(scores.size):
        order[document] = document
    sort_best_first(scores, order)
    if ties != STABLE:
        _reorder_ties(scores, tie_keys, order)


@part(nogil=True, error_model="numpy")
def select_labels(scores: Doubles, labels: Doubles, order: Order, ranked: Doubles) -> None:
    """Fill ``ranked``, of a few places, with the labels of the documents of highest scores, ties by position.

    Most documents of a long list are turned away at once.
    """
    places, held, worst = ranked.size, 0, -np.inf
    for document in range(scores.size):
        score = scores[document]
        if held == places:
            if worst >= score:
                continue
            gap = held - 2
        else:
            gap = held - 1
            held += 1
        while gap >= 0 and scores[order[gap]] < score:
            order[gap + 1] = order[gap]
            gap -= 1
        order[gap + 1] = document
        worst = scores[order[held - 1]]
    for position in range(places):
        ranked[position] = labels[order[position]]


@part(nogil=True, error_model="numpy")
def _reorder_ties(scores: Doubles, smallest_first: Doubles, order: Order) -> None:
    begin = 0
    while begin < order.size:
        end = begin + 1
        while end < order.size and scores[order[end]] == scores[order[begin]]:
            end += 1
        if end > begin + 1:
            tied = order[begin:end].copy()
            keys, places = np.empty(tied.size), np.empty(tied.size, np.int32)
            for position in range(tied.size):
                keys[position], places[position] = -smallest_first[tied[position]], position
            sort_best_first(keys, places)
            for position in range(tied.size):
                order[begin + position] = tied[places[position]]
        begin = end


@part(nogil=True, error_model="numpy", **CALLED)
def order_labels(labels: Doubles, order: Order) -> None:
    """Fill ``order`` with the documents from the highest label to the lowest, ties by position."""
    first = np.zeros(LARGEST_COUNTED_LABEL + 2, np.int32)
    for label in labels:
        if label > LARGEST_COUNTED_LABEL or label != np.floor(label):
            for document in range(labels.size):
                order[document] = document
            sort_best_first(labels, order)
            return
        first[LARGEST_COUNTED_LABEL + 1 - int(label)] += 1
    for level in range(LARGEST_COUNTED_LABEL):
        first[level + 1] += first[level]
    for document in range(labels.size):
        level = LARGEST_COUNTED_LABEL - int(labels[document])
        order[first[level]] = document
        first[level] += 1


@part(nogil=True, error_model="numpy")
def sort_labels(labels: Doubles, best_first: Doubles) -> None:
    """Fill ``best_first``, which may be shorter than the list, with the largest labels, largest first."""
    counts = np.zeros(LARGEST_COUNTED_LABEL + 1, np.int32)
    for label in labels:
        if label > LARGEST_COUNTED_LABEL or label != np.floor(label):
            order = np.empty(labels.size, np.int32)
            order_labels(labels, order)
            for position in range(best_first.size):
                best_first[position] = labels[order[position]]
            return
        counts[int(label)] += 1
    position = 0
    for label in range(LARGEST_COUNTED_LABEL, -1, -1):
        for _ in range(min(counts[label], best_first.size - position)):
            best_first[position] = label
            position += 1


@part(nogil=True, error_model="numpy", **CALLED)
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
def discount(position: int) -> float:
    """Return the discount of a place counted from 0, 1 / log2(2 + position)."""
    return float(DISCOUNTS[position]) if position < TABLED_PLACES else 1.0 / math.log2(position + 2.0)


@part(nogil=True, error_model="numpy")
def ideal_dcg(labels: Doubles, cutoff: int) -> float:
    """Return the largest DCG of a list at a cut-off, with the discount 1 / log2(1 + rank)."""
    best = np.empty(min(cutoff, labels.size))
    sort_labels(labels, best)
    total = 0.0
    for position in range(best.size):
        if best[position] <= 0:
            break
        total += gain(best[position]) * discount(position)
    return total


@part(nogil=True, error_model="numpy")
def fill_dcg_constants(labels: Doubles, cutoff: int, constants: Doubles) -> None:
    """Fill one over the ideal DCG (0 where that is 0), each document's gain, and the discount of each rank.

    Discounts that do not fit into ``constants`` are left out.
    """
    ideal = ideal_dcg(labels, cutoff)
    constants[0] = 1.0 / ideal if ideal > 0 else 0.0
    for document in range(labels.size):
        constants[1 + document] = gain(labels[document])
    for position in range(min(labels.size, constants.size - 1 - labels.size)):
        constants[1 + labels.size + position] = discount(position)
