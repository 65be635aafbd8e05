"""ApproxNDCG (Eq. 15-18), NDCG with ranks made smooth by sigmoids, and CrossEntropy (Eq. 5-8), the paper's ListNet."""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import (
    SLOPE,
    TAIL,
    WIDEST,
    building_block,
    exp,
    exponentials_from,
    fill_dcg_constants,
    largest,
    log,
    scratch,
    sort_best_first,
    sum_over_pairs,
    worth_sums,
)
from rankplug.losses import LongLists, list_constants, list_loss


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


def _worth_for_approx_ndcg(labels, parameters):
    return worth_sums(labels.size, 1, 6, 1.0 * np.count_nonzero(labels) * labels.size)


APPROX_NDCG = LongLists(approx_ndcg_of_long_lists, _worth_for_approx_ndcg)

ROOM = 8
"""Numbers left free between the rows of a block of work space."""


@list_constants
def constants(constants, labels):
    """Fill one over the ideal DCG and the gains of one list."""
    fill_dcg_constants(labels, labels.size, constants)


@building_block
def _add_to_ranks(position, exponentials, ranks):
    """Add to the smooth ranks of document ``place`` and of those after it the sigmoids of their score differences."""
    own = exponentials[position]
    others, other_ranks = exponentials[position + 1 :], ranks[position + 1 :]
    beaten = 0.0
    for j in range(others.size):
        share = 1.0 / (own + others[j])
        beaten += others[j] * share
        other_ranks[j] += own * share
    ranks[position] += beaten


@building_block
def _add_to_gradient(position, exponentials, slopes, gradient):
    """Add the derivative through the sigmoids between document ``place`` and those after it."""
    own, slope = exponentials[position], slopes[position]
    others, other_slopes, other_gradient = (
        exponentials[position + 1 :],
        slopes[position + 1 :],
        gradient[position + 1 :],
    )
    pull = 0.0
    for j in range(others.size):
        share = 1.0 / (own + others[j])
        change = (own * share) * (others[j] * share) * (other_slopes[j] - slope)
        pull += change
        other_gradient[j] -= change
    gradient[position] += pull


@list_loss(constants=constants, constants_length=lambda lengths, parameters: lengths + 1, long_lists=APPROX_NDCG)
def approx_ndcg(scores, gradient, constants, eta):
    """Compute minus the DCG of one list at ranks ``r_i = 1 + sum_j sigmoid(eta (f_j - f_i))``, over the ideal."""
    n = scores.size
    inverse_ideal, gains = constants[0], constants[1 : n + 1]
    if inverse_ideal == 0.0:
        return 0.0
    # Pairs without a relevant document have no part in it: the relevant come first, and the loops end with them.
    relevant = 0
    for i in range(n):
        relevant += gains[i] > 0.0
    # One block, as each array of work space takes as long as a row of pairs.
    work = np.empty((6, n + ROOM))
    documents, exponents, exponentials = work[0][:n], work[1][:n], work[2][:n]
    ranks, slopes, derivative = work[3][:n], work[4][:n], work[5][:n]
    ahead, behind = 0, relevant
    for i in range(n):
        is_relevant = gains[i] > 0.0
        slot = ahead if is_relevant else behind
        documents[slot], exponents[slot], slopes[slot] = i, eta * scores[i], gains[i]
        ahead += is_relevant
        behind += not is_relevant
    highest = lowest = exponents[0]
    for i in range(n):
        highest, lowest = max(highest, exponents[i]), min(lowest, exponents[i])
        ranks[i], derivative[i] = 0.0, 0.0
    wide = highest - lowest > WIDEST
    exponentials_from(exponents, 0.5 * (highest + lowest), exponentials)
    for i in range(relevant):
        if wide:
            exponentials_from(exponents[i:], exponents[i], exponentials[i:])
        _add_to_ranks(i, exponentials, ranks)
    value = 0.0
    for i in range(relevant):
        logarithm = log(2.0 + ranks[i])
        part = slopes[i] * inverse_ideal * math.log(2.0) / logarithm
        value -= part
        slopes[i] = part / ((2.0 + ranks[i]) * logarithm)
    for i in range(relevant):
        if wide:
            exponentials_from(exponents[i:], exponents[i], exponentials[i:])
        _add_to_gradient(i, exponentials, slopes, derivative)
    for i in range(n):
        gradient[int(documents[i])] = eta * derivative[i]
    return value


@list_loss(cost="documents")
def cross_entropy(scores, labels, gradient, curvature, weight_by_label_sum):
    """Compute the cross entropy of one list: the logsumexp of ``f`` minus the sum of ``P(i) f_i``, P = y / sum y."""
    mass = 0.0
    for i in range(labels.size):
        mass += labels[i]
    if mass == 0.0:
        gradient[:] = 0.0
        curvature[:] = 0.0
        return 0.0
    scale = mass if weight_by_label_sum else 1.0
    peak = largest(scores)
    total = 0.0
    for i in range(scores.size):
        gradient[i] = exp(scores[i] - peak)
        total += gradient[i]
    rise = 0.0
    for i in range(scores.size):
        share = labels[i] / mass
        probability = gradient[i] / total
        rise += share * (peak - scores[i])
        gradient[i] = scale * (probability - share)
        curvature[i] = scale * probability * (1.0 - probability)
    return scale * (rise + log(total))
