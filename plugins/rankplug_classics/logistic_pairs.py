r"""Weighted logistic losses of a list's pairs: RankNet, the LambdaLoss family and YetiRank.

Documents stand in rank order, so that the gap of a document to those below it is never negative. With
``e = exp(sigma s)`` kept for each, the sigmoid of any gap is a quotient, and rows run without a branch.

RankNet (Burges et al. 2005) counts every pair of documents with different labels, with documents in
the order of their labels.

The LambdaLoss family (Wang, Li, Golbandi, Bendersky, Najork 2018) has weights that bound NDCG. With 1-based ranks
``r``, ``D(r) = log2(1 + r)`` and ``G`` the gain over the ideal DCG, a pair in which i is better than j has the weight

=========== ==========================================================================================
ndcg2       ``|G_i - G_j| delta_ij``, ``delta_ij = |1 / D(|r_i - r_j|) - 1 / D(|r_i - r_j| + 1)|``
ndcg2pp     ``|G_i - G_j| (rho_ij + mu delta_ij)``, ``rho_ij = |1 / D(r_i) - 1 / D(r_j)|`` (NDCG-Loss2++)
ndcg1       ``G_i / D(r_i)``, for every ordered pair of documents, whatever their labels (NDCG-Loss1)
=========== ==========================================================================================

Logarithms are to base 2 and ranks are held fixed in differentiation. A list whose labels are all equal is silent.

Of long lists NDCG-Loss1 is summed without a look at pairs, as a pair's weight is one document's. The weights of the
others depend on the distance of two ranks, beside that of their scores, which sums along one order cannot have.

YetiRank (Gulin, Kuralenok, Pavlov 2011) counts pairs that noise brings next to each other. Each permutation sorts
scores with logistic noise, ``f_i + log(u_i / (1 - u_i))``. The neighbours at ranks r and r + 1 weigh ``|y_i - y_j|``
times ``decay^(r-1)`` (as CatBoost has it) or ``1 / r`` (as the paper has it). The weights of all permutations are
averaged, and held fixed in differentiation. The paper's matrix of how assessors confuse labels is replaced by the
difference of the labels.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import (
    SLOPE,
    SOFTPLUS,
    TAIL,
    WIDEST,
    add_logistic_pair,
    building_block,
    different_levels,
    exponentials_from,
    fill_dcg_constants,
    log,
    logistic,
    scratch,
    sort_best_first,
    sum_over_pairs,
    worth_sums,
    zeros,
)
from rankplug.losses import LongLists, list_constants, list_loss
from rankplug_classics.likelihoods import best_label_first, one_number_a_document

ROOM = 8
"""Numbers left free between the rows of a block of work space."""


@building_block
def start_rows(exponents, exponentials):
    """Fill the exponentials about the middle of the exponents; tell whether they spread too wide for one origin."""
    origin = 0.5 * (exponents[0] + exponents[-1])
    exponentials_from(exponents, origin, exponentials)
    return origin, exponents[0] - exponents[-1] > WIDEST


@building_block
def add_row(row, exponents, exponentials, origin, wide, weights, valued, gradient, curvature):
    """Add the pairs of the document at rank ``place`` with all below it; return their loss if it is ``valued``.

    The loss of a pair is ``|w| log(1 + exp(-(x_better - x_worse)))``. A positive weight says that the upper document is
    the better one, a negative weight that the lower is, and 0 that the pair does not count.
    """
    if wide:
        origin = exponents[row]
        exponentials_from(exponents[row:], origin, exponentials[row:])
    below = slice(row + 1, exponents.size)
    own, others, weights_below = exponentials[row], exponentials[below], weights[below]
    gradient_below, curvature_below = gradient[below], curvature[below]
    pull, bend = 0.0, 0.0
    for j in range(others.size):
        share = 1.0 / (own + others[j])
        own_share, other_share = own * share, others[j] * share
        push = weights_below[j] * (other_share if weights_below[j] > 0.0 else own_share)
        curve = abs(weights_below[j]) * own_share * other_share
        pull += push
        bend += curve
        gradient_below[j] += push
        curvature_below[j] += curve
    gradient[row] -= pull
    curvature[row] += bend
    total = 0.0
    if valued:
        exponent, exponents_below = exponents[row], exponents[below]
        for j in range(others.size):
            better = exponent if weights_below[j] > 0.0 else exponents_below[j]
            total += abs(weights_below[j]) * (log(own + others[j]) - (better - origin))
    return total


@building_block
def _add_worse(own, others, slopes, curves, chances):
    """Add the pairs of a document with others of lower labels, and multiply each one's ``chances`` by the sigmoid."""
    pull, bend = 0.0, 0.0
    for j in range(others.size):
        share = 1.0 / (own + others[j])
        wrong, right = others[j] * share, own * share
        pull += wrong
        bend += wrong * right
        slopes[j] += wrong
        curves[j] += wrong * right
        chances[j] *= right
    return pull, bend


@building_block
def _pairs_by_label(labels, exponents, exponentials, chances, valued, slopes, curves):
    """Add up all pairs of documents that stand from the highest label to the lowest; return their loss and number.

    A pair's loss is minus the logarithm of a sigmoid. The sigmoids of as many rows as a double has room for are
    multiplied before the logarithm is taken.
    """
    n = exponents.size
    highest, lowest = exponents[0], exponents[0]
    for i in range(n):
        highest, lowest = max(highest, exponents[i]), min(lowest, exponents[i])
        chances[i], slopes[i], curves[i] = 1.0, 0.0, 0.0
    spread = highest - lowest
    rows = max(1, int(WIDEST / (spread + 1.0)))
    exponentials_from(exponents, 0.5 * (highest + lowest), exponentials)
    value, pairs, end = 0.0, 0, 0
    for i in range(n):
        if i == end:
            while end < n and labels[end] == labels[i]:
                end += 1
        pairs += n - end
        if spread > WIDEST:
            for j in range(end, n):
                value += add_logistic_pair(exponents, i, j, 1.0, slopes, curves)
            continue
        below = slice(end, n)
        pull, bend = _add_worse(exponentials[i], exponentials[below], slopes[below], curves[below], chances[below])
        slopes[i] -= pull
        curves[i] += bend
        if i % rows == rows - 1 or i == n - 1:
            for j in range(n):
                if valued:
                    value -= log(chances[j])
                chances[j] = 1.0
    return value, pairs


@list_loss()
def ranknet_of_long_lists(scores, labels, gradient, curvature, constants, order, valued, sigma, mean):
    """Compute what ``ranknet`` does of one list, by sums over all pairs in place of a look at each."""
    n = scores.size
    ranked = sort_best_first(scores, order)
    exponents, level_of, level_of_document, levels = scratch(n), np.empty(n, np.int64), np.empty(n, np.int64), 1
    for position in range(n - 1, -1, -1):
        document = int(constants[position])
        if position < n - 1 and labels[document] > labels[int(constants[position + 1])]:
            levels += 1
        level_of_document[document] = levels - 1
    for position in range(n):
        exponents[position], level_of[position] = sigma * ranked[position], level_of_document[order[position]]
    above, lower_above, below, higher_below = sum_over_pairs(
        exponents, level_of, np.ones((1, n)), different_levels(levels), (SOFTPLUS if valued else SLOPE) + 1
    )
    scale = 1.0
    if mean and levels > 1:
        counts = zeros(levels)
        for level in level_of:
            counts[level] += 1.0
        scale = 2.0 / (n * n - (counts * counts).sum())
    value = 0.0
    for position in range(n):
        # A pair in the wrong order adds 1 less what it would add in the right one.
        wrong = higher_below[0, position] - lower_above[0, position]
        push = above[TAIL, 0, position] - below[TAIL, 0, position] + wrong
        gradient[order[position]] = scale * sigma * push
        curvature[order[position]] = scale * sigma * sigma * (above[SLOPE, 0, position] + below[SLOPE, 0, position])
        if valued:
            value += above[SOFTPLUS, 0, position] + wrong * (exponents[position] - exponents[n // 2])
    return scale * value


def _worth_sums_for_ranknet(labels, parameters):
    n = labels.size
    return worth_sums(n, np.unique(labels).size, 1, 0.5 * n * n)


@list_loss(
    constants=best_label_first,
    constants_length=one_number_a_document,
    long_lists=LongLists(ranknet_of_long_lists, _worth_sums_for_ranknet),
)
def ranknet(scores, labels, gradient, curvature, constants, valued, sigma, mean):
    """Compute the sum over one list's pairs with ``y_i > y_j`` of ``log(1 + exp(-sigma (f_i - f_j)))``."""
    n = scores.size
    # One block, as each array of work space takes as long as a row of pairs.
    work = np.empty((6, n + ROOM))
    exponents, ranked_labels, slopes, curves = work[0][:n], work[1][:n], work[2][:n], work[3][:n]
    for position in range(n):
        document = int(constants[position])
        exponents[position], ranked_labels[position] = sigma * scores[document], labels[document]
    value, pairs = _pairs_by_label(ranked_labels, exponents, work[4][:n], work[5][:n], valued, slopes, curves)
    scale = 1.0 / pairs if mean and pairs > 0 else 1.0
    for position in range(n):
        document = int(constants[position])
        gradient[document] = scale * sigma * slopes[position]
        curvature[document] = scale * sigma * sigma * curves[position]
    return scale * value


NDCG1, NDCG2 = 0, 1
"""Positions among the words of the parameter ``variant``."""


@list_constants
def ndcg_constants(constants, labels):
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


def _worth_sums_for_ndcg1(labels, parameters):
    n = labels.size
    return parameters.variant == "ndcg1" and worth_sums(n, 1, 2, 1.0 * n * n)


@list_loss(
    constants=ndcg_constants,
    constants_length=lambda lengths, parameters: 2 * lengths + 1,
    long_lists=LongLists(ndcg1_of_long_lists, _worth_sums_for_ndcg1),
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


GEOMETRIC = 0
"""Position of ``geometric`` among the words of the parameter ``position_weight``."""


@list_loss(cost="documents")
def yetirank(scores, labels, gradient, curvature, key, permutations, position_weight, decay):
    """Compute YetiRank of one list."""
    n = scores.size
    gradient[:] = 0.0
    curvature[:] = 0.0
    perturbed, order, value = np.empty(n), np.arange(n).astype(np.int32), 0.0
    for permutation in range(permutations):
        for document in range(n):
            perturbed[document] = scores[document] + logistic(key, permutation * n + document)
        sort_best_first(perturbed, order)
        for position in range(n - 1):
            better, worse = order[position], order[position + 1]
            if labels[better] < labels[worse]:
                better, worse = worse, better
            weight = (labels[better] - labels[worse]) / permutations
            weight *= decay**position if position_weight == GEOMETRIC else 1.0 / (position + 1.0)
            value += add_logistic_pair(scores, better, worse, weight, gradient, curvature)
    return value
