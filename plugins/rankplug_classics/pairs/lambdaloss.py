"""The LambdaLoss family (Wang, Li, Golbandi, Bendersky, Najork 2018): logistic pairs with weights that bound NDCG.

With 1-based ranks ``r``, ``D(r) = log2(1 + r)`` and ``G`` the gain over the ideal DCG, a pair in which i is better than
j has the weight

=========== ==========================================================================================
ndcg2       ``|G_i - G_j| delta_ij``, ``delta_ij = |1 / D(|r_i - r_j|) - 1 / D(|r_i - r_j| + 1)|``
ndcg2pp     ``|G_i - G_j| (rho_ij + mu delta_ij)``, ``rho_ij = |1 / D(r_i) - 1 / D(r_j)|`` (NDCG-Loss2++)
ndcg1       ``G_i / D(r_i)``, for every ordered pair of documents, whatever their labels (NDCG-Loss1)
=========== ==========================================================================================

Logarithms are to base 2 and ranks are held fixed in differentiation. A list whose labels are all equal is silent.

Of long lists NDCG-Loss1 is summed without a look at pairs, as a pair's weight is one document's. The weights of the
others depend on the distance of two ranks, beside that of their scores, which sums along one order cannot have.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import (
    SLOPE,
    SOFTPLUS,
    TAIL,
    building_block,
    fill_dcg_constants,
    scratch,
    sort_best_first,
    sum_over_pairs,
    worth_sums,
    zeros,
)
from rankplug.losses import LongLists, list_constants, list_loss
from rankplug_classics.pairs.logistic_pairs import add_row, start_rows

NDCG1, NDCG2 = 0, 1
"""Positions among the words of the parameter ``variant``."""


@list_constants
def constants(constants, labels):
    """Fill one over the ideal DCG, gains and discounts of one list."""
    fill_dcg_constants(labels, labels.size, constants)


@building_block
def _fill_weights(position, gains, discounts, rho_share, mu, weights):
    gain, discount = gains[position], discounts[position]
    gains_below, discounts_below, weights_below = (
        gains[position + 1 :],
        discounts[position + 1 :],
        weights[position + 1 :],
    )
    for j in range(gains_below.size):
        rho = rho_share * (discount - discounts_below[j])
        weights_below[j] = (gain - gains_below[j]) * (rho + mu * (discounts[j] - discounts[j + 1]))


@list_loss()
def ndcg1_of_long_lists(scores, labels, gradient, curvature, constants, order, valued, sigma):
    """Compute NDCG-Loss1 of one list, by sums over all pairs in place of a look at each."""
    n = scores.size
    if labels.max() == labels.min():
        gradient[:] = 0.0
        curvature[:] = 0.0
        return 0.0
    ranked = sort_best_first(scores, order)
    exponents, weights = scratch(n), np.ones((2, n))
    weights_below = 0.0
    for i in range(n):
        exponents[i] = sigma * ranked[i]
        weights[1, i] = constants[0] * constants[1 + order[i]] * constants[1 + n + i]
        weights_below += weights[1, i]
    above, _, below, _ = sum_over_pairs(
        exponents, np.zeros(n, np.int64), weights, np.ones((1, 1)), (SOFTPLUS if valued else SLOPE) + 1
    )
    value, gaps_above, scale = 0.0, 0.0, 1.0 / math.log(2.0)
    for i in range(n):
        weight = weights[1, i]
        weights_below -= weight
        # Each pair counts twice: by the weight of its upper document, in order, and by that of its lower one, inverted.
        push = above[TAIL, 1, i] + weight * (above[TAIL, 0, i] - i)
        push += weights_below - below[TAIL, 1, i] - weight * below[TAIL, 0, i]
        curve = above[SLOPE, 1, i] + below[SLOPE, 1, i] + weight * (above[SLOPE, 0, i] + below[SLOPE, 0, i])
        gradient[order[i]] = scale * sigma * push
        curvature[order[i]] = scale * sigma * sigma * curve
        if valued:
            if i > 0:
                gaps_above += i * (exponents[i - 1] - exponents[i])
            value += above[SOFTPLUS, 1, i] + weight * (above[SOFTPLUS, 0, i] + gaps_above)
    return scale * value


def _worth_sums(labels, parameters):
    n = labels.size
    return parameters.variant == "ndcg1" and worth_sums(n, 1, 2, 1.0 * n * n)


@list_loss(
    constants=constants,
    constants_length=lambda lengths, parameters: 2 * lengths + 1,
    long_lists=LongLists(ndcg1_of_long_lists, _worth_sums),
)
def lambdaloss(scores, labels, gradient, curvature, constants, order, valued, variant, mu, sigma):
    """Compute LambdaLoss of one list."""
    n = scores.size
    if labels.max() == labels.min():
        gradient[:] = 0.0
        curvature[:] = 0.0
        return 0.0
    discounts = constants[1 + n :]
    ranked = sort_best_first(scores, order)
    exponents, exponentials, weights, gains = scratch(n), scratch(n), scratch(n), scratch(n)
    slopes, curves = zeros(n), zeros(n)
    for position in range(n):
        exponents[position] = sigma * ranked[position]
        gains[position] = constants[0] * constants[1 + order[position]]
    origin, wide = start_rows(exponents, exponentials)
    value = 0.0
    if variant == NDCG1:
        for position in range(n):
            gains[position] *= discounts[position]
        for position in range(n - 1):
            weights[position + 1 :] = gains[position]
            value += add_row(position, exponents, exponentials, origin, wide, weights, valued, slopes, curves)
            # A loop, as numba compiles an assignment of whole slices for seconds.
            for other in range(position + 1, n):
                weights[other] = -gains[other]
            value += add_row(position, exponents, exponentials, origin, wide, weights, valued, slopes, curves)
    else:
        rho_share, delta_share = (0.0, 1.0) if variant == NDCG2 else (1.0, mu)
        for position in range(n - 1):
            _fill_weights(position, gains, discounts, rho_share, delta_share, weights)
            value += add_row(position, exponents, exponentials, origin, wide, weights, valued, slopes, curves)
    scale = 1.0 / math.log(2.0)
    for position in range(n):
        gradient[order[position]] = scale * sigma * slopes[position]
        curvature[order[position]] = scale * sigma * sigma * curves[position]
    return scale * value
