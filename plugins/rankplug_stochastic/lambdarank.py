"""LambdaMART's gradient and curvature (Eq. 23): pairs pushed apart by how much their exchange would change NDCG.

A list is laid out with the ranks within the truncation first, by descending label, and the others behind them. The
partners of a document of the first part are then one span of documents, which a loop crosses without a branch; those of
equal label add nothing. With ``e = exp(sigma s)`` kept for each document, the sigmoid of a gap needs no exponential of
its own.

Without truncation and ``norm`` long lists need no look at each pair. Which of two documents has the larger discount is
the order of their scores, so that ``|D_i - D_j|`` has no sign to find, and the sum over a document's pairs with one
level of labels is its discount times a sum of sigmoids, less one of sigmoids times discounts.

With LightGBM's own arithmetic models equal those of its built-in objective bit by bit.

LightGBM 4.x reads the sigmoid from a table of 2^20 bins over ``[-25 / sigma, 25 / sigma]`` and adds up in single
precision, pair after pair. Trees follow the last bit of a gradient, so only the same roundings in the same order give
the same trees. The table's entries are computed as they are needed.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import (
    APART,
    SLOPE,
    SOFTPLUS,
    TAIL,
    WIDEST,
    building_block,
    exp,
    exponentials_from,
    fill_dcg_constants,
    log,
    part,
    scratch,
    sort_best_first,
    sum_over_pairs,
    worth_sums,
)
from rankplug.losses import LongLists, list_constants, list_loss

BINS = 1024.0 * 1024.0
WIDTH = 25.0
SINGLE_REGULARISER = float(np.float32(0.01))


@part(nogil=True, error_model="numpy", fastmath=False)
def _tabulated_sigmoid(gap, sigma):
    """Return one over ``1 + exp(sigma gap)``, at the left end of the bin the gap falls into."""
    least = -WIDTH / sigma
    bins_a_unit = BINS / (-least - least)
    if gap <= least:
        step = 0.0
    elif gap >= -least:
        step = BINS - 1.0
    else:
        step = math.floor((gap - least) * bins_a_unit)
    return 1.0 / (1.0 + math.exp((step / bins_a_unit + least) * sigma))


@part(nogil=True, error_model="numpy", fastmath=False)
def lambdarank_in_single_precision(ranked, order, constants, sigma, norm, deepest, gradient, curvature):
    """Fill gradient and curvature of one list, whose scores come by rank; return the normalising factor."""
    n = ranked.size
    inverse_ideal, gains, discounts = constants[0], np.empty(n), constants[1 + n :]
    for position in range(n):
        gains[position] = constants[1 + order[position]]
    lambdas, curves = np.zeros(n, np.float32), np.zeros(n, np.float32)
    by_score = norm and ranked[0] != ranked[n - 1]
    pushes = 0.0
    for i in range(min(n - 1, deepest)):
        for j in range(i + 1, n):
            if gains[i] == gains[j]:
                continue
            high, low = (i, j) if gains[i] > gains[j] else (j, i)
            gap = ranked[high] - ranked[low]
            change = (gains[high] - gains[low]) * abs(discounts[high] - discounts[low]) * inverse_ideal
            if by_score:
                change /= SINGLE_REGULARISER + abs(gap)
            push = _tabulated_sigmoid(gap, sigma)
            curve = np.float32(push * (1.0 - push) * (sigma * sigma * change))
            push *= -sigma * change
            lambdas[low] -= np.float32(push)
            curves[low] += curve
            lambdas[high] += np.float32(push)
            curves[high] += curve
            pushes -= 2.0 * push
    scale = math.log2(1.0 + pushes) / pushes if norm and pushes > 0.0 else 1.0
    for position in range(n):
        gradient[order[position]] = np.float32(lambdas[position] * scale)
        curvature[order[position]] = np.float32(curves[position] * scale)
    return scale


@building_block
def _fill_levels(order, constants, level_of, gains):
    """Fill the level of gain of the document at each rank, and the gain of each level; return how many there are."""
    n = order.size
    level_of_document, levels = np.empty(n, np.int64), 0
    for k in range(n - 1, -1, -1):
        i = int(constants[1 + 2 * n + k])
        if levels == 0 or constants[1 + i] > gains[levels - 1]:
            gains[levels] = constants[1 + i]
            levels += 1
        level_of_document[i] = levels - 1
    for position in range(n):
        level_of[position] = level_of_document[order[position]]
    return levels


@list_loss()
def lambdarank_of_long_lists(scores, gradient, curvature, constants, order, valued, sigma):
    """Compute what ``lambdarank`` does of one list."""
    n = scores.size
    inverse_ideal, discounts = constants[0], constants[1 + n :]
    if inverse_ideal == 0.0:
        gradient[:] = 0.0
        curvature[:] = 0.0
        return 0.0
    ranked = sort_best_first(scores, order)
    level_of, gains = np.empty(n, np.int64), np.empty(n)
    levels = _fill_levels(order, constants, level_of, gains)
    apart, weights, exponents = np.empty((levels, levels)), np.ones((2, n)), scratch(n)
    for level in range(levels):
        for other in range(levels):
            apart[level, other] = abs(gains[level] - gains[other])
    for i in range(n):
        exponents[i] = sigma * ranked[i]
        # Counted from one in the middle, which takes nothing from their differences and keeps them exact.
        weights[1, i] = discounts[i] - discounts[n // 2]
    above, lower_above, below, higher_below = sum_over_pairs(
        exponents, level_of, weights, apart, (SOFTPLUS if valued else SLOPE) + 1
    )
    value, scale = 0.0, sigma * inverse_ideal
    for i in range(n):
        discount = weights[1, i]
        wrong = discount * higher_below[0, i] - higher_below[1, i] - (lower_above[1, i] - discount * lower_above[0, i])
        push = wrong + above[TAIL, 1, i] - discount * (above[TAIL, 0, i] + below[TAIL, 0, i]) + below[TAIL, 1, i]
        curve = above[SLOPE, 1, i] - discount * (above[SLOPE, 0, i] - below[SLOPE, 0, i]) - below[SLOPE, 1, i]
        gradient[order[i]] = scale * push
        curvature[order[i]] = scale * sigma * max(curve, 0.0)
        if valued:
            value += above[SOFTPLUS, 1, i] - discount * above[SOFTPLUS, 0, i]
            value += wrong * (exponents[i] - exponents[n // 2])
    return inverse_ideal * value


def _worth_for_lambdarank(labels, parameters):
    n = labels.size
    if parameters.norm or parameters.deepest < n or parameters.arithmetic != "exact":
        return False
    return worth_sums(n, np.unique(labels).size, 2, 0.5 * n * n)


LAMBDARANK = LongLists(lambdarank_of_long_lists, _worth_for_lambdarank)


REGULARISER = 0.01
EXACT = 0
"""Position of ``exact`` among the words of the parameter ``arithmetic``."""
SCORE, GAIN, DISCOUNT, EXPONENT, EXPONENTIAL, GRADIENT, CURVATURE = 0, 1, 2, 3, 4, 5, 6
"""Rows of the table of a list's documents."""


@list_constants
def constants(constants, labels, deepest):
    """Fill one over the ideal DCG, gains and discounts of one list, and its documents by descending label."""
    n = labels.size
    fill_dcg_constants(labels, deepest, constants)
    by_label = np.empty(n, np.int32)
    for i in range(n):
        by_label[i] = i
    sort_best_first(labels, by_label)
    for i in range(n):
        constants[1 + 2 * n + i] = by_label[i]


@building_block
def _push_apart(table, n, own, first, by_score):
    """Add the pairs of document ``own`` with those from ``first`` on; return the sum of their gradients."""
    score, gain, discount, exponential = (
        table[SCORE, own],
        table[GAIN, own],
        table[DISCOUNT, own],
        table[EXPONENTIAL, own],
    )
    scores, gains, discounts = table[SCORE, first:n], table[GAIN, first:n], table[DISCOUNT, first:n]
    exponentials, gradient = table[EXPONENTIAL, first:n], table[GRADIENT, first:n]
    curvature = table[CURVATURE, first:n]
    pull, bend, pushes = 0.0, 0.0, 0.0
    for j in range(gains.size):
        share = 1.0 / (exponential + exponentials[j])
        change = (gain - gains[j]) * abs(discount - discounts[j])
        if by_score:
            change /= REGULARISER + abs(score - scores[j])
        push = change * share * (exponentials[j] if change > 0.0 else exponential)
        curve = abs(change) * (exponential * share) * (exponentials[j] * share)
        pull += push
        bend += curve
        pushes += abs(push)
        gradient[j] += push
        curvature[j] += curve
    table[GRADIENT, own] -= pull
    table[CURVATURE, own] += bend
    return pushes


@building_block
def _pair_losses(table, n, own, first, by_score):
    """Return the sum over the same pairs of ``D_ij log(1 + exp(-sigma (s_i - s_j)))``, where i has the higher label."""
    total = 0.0
    for j in range(first, n):
        change = (table[GAIN, own] - table[GAIN, j]) * abs(table[DISCOUNT, own] - table[DISCOUNT, j])
        if by_score:
            change /= REGULARISER + abs(table[SCORE, own] - table[SCORE, j])
        gap = table[EXPONENT, own] - table[EXPONENT, j]
        behind = -gap if change > 0.0 else gap
        total += abs(change) * (max(behind, 0.0) + log(1.0 + exp(-abs(gap))))
    return total


@building_block
def _lay_out(scores, order, constants, sigma, deepest, table, documents):
    """Fill the table: first the ranks within the truncation, then the others, both by descending label.

    The row of exponentials, which is filled later, holds the discounts by document until then.
    """
    n = scores.size
    discounts = table[EXPONENTIAL]
    for position in range(n):
        discounts[order[position]] = constants[1 + n + position]
    within = constants[n + deepest] if deepest < n else 0.0
    inner, outer = 0, min(n, deepest)
    for k in range(n):
        i = int(constants[1 + 2 * n + k])
        is_inner = discounts[i] >= within
        position = inner if is_inner else outer
        inner, outer = inner + is_inner, outer + (not is_inner)
        documents[position] = i
        table[SCORE, position], table[EXPONENT, position] = scores[i], sigma * scores[i]
        table[GAIN, position], table[DISCOUNT, position] = constants[1 + i], discounts[i]
        table[GRADIENT, position], table[CURVATURE, position] = 0.0, 0.0


@building_block
def _add_pairs(table, n, inner, by_score, exact, valued):
    """Add all pairs with a document of the first ``inner``; return their losses and the sum of their gradients."""
    exponents, exponentials, gains = table[EXPONENT, :n], table[EXPONENTIAL, :n], table[GAIN, :n]
    highest = lowest = exponents[0]
    for i in range(n):
        highest, lowest = max(highest, exponents[i]), min(lowest, exponents[i])
    wide = highest - lowest > WIDEST
    exponentials_from(exponents, 0.5 * (highest + lowest), exponentials)
    value, pushes = 0.0, 0.0
    first = 0
    for own in range(inner):
        while first < inner and gains[first] >= gains[own]:
            first += 1
        if wide:
            exponentials_from(exponents, exponents[own], exponentials)
        if exact:
            pushes += _push_apart(table, n, own, first, by_score)
        if valued:
            value += _pair_losses(table, n, own, first, by_score)
    return value, pushes


@list_loss(constants=constants, constants_length=lambda lengths, parameters: 3 * lengths + 1, long_lists=LAMBDARANK)
def lambdarank(scores, gradient, curvature, constants, order, valued, sigma, norm, deepest, arithmetic):
    """Compute LambdaMART's gradient of one list; the value is the pairs' logistic losses with weights held fixed."""
    n = scores.size
    inverse_ideal = constants[0]
    if n == 1 or inverse_ideal == 0.0:
        gradient[:] = 0.0
        curvature[:] = 0.0
        return 0.0
    ranked = sort_best_first(scores, order)
    table, documents = np.empty((7, n + APART)), np.empty(n, np.int32)
    _lay_out(scores, order, constants, sigma, deepest, table, documents)
    by_score, exact = norm and ranked[0] != ranked[n - 1], arithmetic == EXACT
    value, pushes = _add_pairs(table, n, min(n, deepest), by_score, exact, valued)
    if exact:
        pushes *= 2.0 * sigma * inverse_ideal
        scale = math.log2(1.0 + pushes) / pushes if norm and pushes > 0.0 else 1.0
        for position in range(n):
            gradient[documents[position]] = sigma * inverse_ideal * scale * table[GRADIENT, position]
            curvature[documents[position]] = sigma * sigma * inverse_ideal * scale * table[CURVATURE, position]
    else:
        scale = lambdarank_in_single_precision(ranked, order, constants, sigma, norm, deepest, gradient, curvature)
    return inverse_ideal * scale * value
