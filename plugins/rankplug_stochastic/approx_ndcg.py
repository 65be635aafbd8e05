"""NDCG with ranks made smooth by sigmoids (Eq. 15-18)."""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import WIDEST, building_block, exponentials_from, fill_dcg_constants, log
from rankplug.losses import list_constants, list_loss
from rankplug_stochastic.long_lists import APPROX_NDCG

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
