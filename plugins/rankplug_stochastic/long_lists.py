"""LambdaRank and ApproxNDCG of long lists, by sums over all pairs in place of a look at each.

LambdaRank can do so without truncation and ``norm``. Which of two documents has the larger discount is the order of
their scores, so that ``|D_i - D_j|`` has no sign to be found out, and the sum over a document's pairs with one level of
labels is its discount times a sum of sigmoids, less one of sigmoids times discounts.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import (
    SLOPE,
    SOFTPLUS,
    TAIL,
    building_block,
    log,
    scratch,
    sort_best_first,
    sum_over_pairs,
    worth_sums,
)
from rankplug.losses import LongLists, list_loss


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


@list_loss()
def approx_ndcg_of_long_lists(scores, gradient, constants, order, eta):
    """Compute what ``approx_ndcg`` does of one list."""
    n = scores.size
    inverse_ideal, gains = constants[0], constants[1 : n + 1]
    if inverse_ideal == 0.0:
        return 0.0
    ranked = sort_best_first(scores, order)
    exponents, one_level, all_pairs = scratch(n), np.zeros(n, np.int64), np.ones((1, 1))
    for position in range(n):
        exponents[position] = eta * ranked[position]
    above, _, below, _ = sum_over_pairs(exponents, one_level, np.ones((1, n)), all_pairs, SLOPE + 1)
    value, weights = 0.0, np.empty((1, n))
    for position in range(n):
        rank = position - above[TAIL, 0, position] + below[TAIL, 0, position]
        logarithm = log(2.0 + rank)
        part = gains[order[position]] * inverse_ideal * math.log(2.0) / logarithm
        value -= part
        weights[0, position] = part / ((2.0 + rank) * logarithm)
    weighted_above, _, weighted_below, _ = sum_over_pairs(exponents, one_level, weights, all_pairs, SLOPE + 1)
    for position in range(n):
        pull = weighted_above[SLOPE, 0, position] + weighted_below[SLOPE, 0, position]
        pull -= weights[0, position] * (above[SLOPE, 0, position] + below[SLOPE, 0, position])
        gradient[order[position]] = eta * pull
    return value


def _worth_for_lambdarank(labels, parameters):
    n = labels.size
    if parameters.norm or parameters.deepest < n or parameters.arithmetic != "exact":
        return False
    return worth_sums(n, np.unique(labels).size, 2, 0.5 * n * n)


def _worth_for_approx_ndcg(labels, parameters):
    return worth_sums(labels.size, 1, 6, 1.0 * np.count_nonzero(labels) * labels.size)


LAMBDARANK = LongLists(lambdarank_of_long_lists, _worth_for_lambdarank)
APPROX_NDCG = LongLists(approx_ndcg_of_long_lists, _worth_for_approx_ndcg)
