r"""Likelihoods of an order of documents, chosen one by one with odds ``e^f``: ListMLE, p-ListMLE and MDPRank.

ListMLE (Xia, Liu, Wang, Zhang, Li 2008) and p-ListMLE (Lan, Zhu, Guo, Niu, Cheng 2014) take the order of the labels.

MDPRank (Wei, Xu, Lan, Guo, Cheng 2017) is the policy gradient of ranking as a decision process.
At step t (from 0) the policy draws one of the documents that are left with odds ``e^f`` and earns
``r_0 = 2^y - 1`` and ``r_t = (2^y - 1) / log2(t + 1)``. With the return ``G_t = sum_k discount^k r_(t+k)``, ascent
follows :math:`\sum_t \mathrm{discount}^t\, G_t\, \nabla \log \pi(a_t)`. The loss whose gradient this is, for the
episodes drawn, is ``-sum_t discount^t G_t log pi(a_t)``; it says how likely the episodes were, not how good.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import building_block, exp, gain, log, order_labels, scratch, sort_best_first, uniform
from rankplug.losses import list_constants, list_loss


@list_constants
def best_label_first(constants, labels):
    """Return the documents' positions by descending label, ties by position."""
    order = np.empty(labels.size, np.int32)
    order_labels(labels, order)
    # numba compiles an assignment of whole arrays for seconds, because of the message for shapes that differ.
    for position in range(labels.size):
        constants[position] = order[position]


@building_block
def shuffle_ties(labels, key, order):
    """Put documents of equal label, which stand together in ``order``, into random order (Fisher and Yates)."""
    first = 0
    for position in range(order.size):
        if labels[order[position]] != labels[order[first]]:
            first = position
        other = first + int((position - first + 1) * uniform(key, position))
        order[position], order[other] = order[other], order[position]


@building_block
def add_likelihood(scores, order, weights, gradient, curvature):
    """Add the derivatives of ``sum_t w_t [logsumexp(f of ranks t to n) - f of rank t]``, and return the sum.

    The mass that is left at each place is kept relative to the largest score left, so no score is too far off.
    """
    n = order.size
    terms, masses, peaks = scratch(n), scratch(n), scratch(n)
    peak, mass = scores[order[n - 1]], 0.0
    for position in range(n - 1, -1, -1):
        score = scores[order[position]]
        if score > peak:
            mass *= exp(peak - score)
            peak = score
        terms[position] = exp(score - peak)
        mass += terms[position]
        masses[position], peaks[position] = mass, peak
    value, drawn, squares = 0.0, 0.0, 0.0
    for position in range(n):
        value += weights[position] * (peaks[position] + log(masses[position]))
    for position in range(n):
        document, weight = order[position], weights[position]
        value -= weight * scores[document]
        if position > 0:
            shrink = masses[position] / masses[position - 1]
            if peaks[position] != peaks[position - 1]:
                shrink *= exp(peaks[position] - peaks[position - 1])
            drawn *= shrink
            squares *= shrink * shrink
        drawn += weight
        squares += weight
        share = terms[position] / masses[position]
        gradient[document] += drawn * share - weight
        curvature[document] += max(0.0, drawn * share - squares * share * share)
    return value


SHUFFLED = 0
"""Position of ``shuffled`` among the words of the parameter ``ties``."""
SCALED = 0
"""Position of ``scaled`` among the words of the parameter ``alpha``."""
LARGEST_POWER = 960
"""Raw weights of p-ListMLE stop growing at this power of two; beyond a list's sum would not fit into a double."""


def one_number_a_document(lengths, parameters):
    """Return length of the constants."""
    return lengths


@list_loss(constants=best_label_first, constants_length=one_number_a_document, cost="documents")
def listmle(scores, labels, gradient, curvature, constants, key, ties):
    """Compute minus the log-likelihood of one list's documents in the order of their labels."""
    gradient[:] = 0.0
    curvature[:] = 0.0
    if labels.max() == labels.min():
        return 0.0
    order = constants.astype(np.int32)
    if ties == SHUFFLED:
        shuffle_ties(labels, key, order)
    return add_likelihood(scores, order, np.ones(scores.size), gradient, curvature)


@list_loss(constants=best_label_first, constants_length=one_number_a_document, cost="documents")
def p_listmle(scores, labels, gradient, curvature, constants, key, ties, alpha):
    """Compute ListMLE of one list with rank i weighted by ``alpha(i) = 2^(n-i) - 1``, over ``2^n`` if scaled."""
    gradient[:] = 0.0
    curvature[:] = 0.0
    if labels.max() == labels.min():
        return 0.0
    n = scores.size
    order, weights = constants.astype(np.int32), scratch(n)
    if ties == SHUFFLED:
        shuffle_ties(labels, key, order)
    for position in range(n):
        if alpha == SCALED:
            weights[position] = 2.0 ** (-1.0 - position) - 2.0 ** (-1.0 * n)
        else:
            weights[position] = 2.0 ** min(n - 1.0 - position, LARGEST_POWER) - 1.0
    return add_likelihood(scores, order, weights, gradient, curvature)


@list_loss(cost="documents")
def mdprank(scores, labels, gradient, curvature, key, episodes, discount):
    """Compute MDPRank of one list, averaged over ``episodes``; the policy draws by sorting scores with Gumbel noise."""
    gradient[:] = 0.0
    curvature[:] = 0.0
    if labels.max() == labels.min():
        return 0.0
    n = scores.size
    perturbed, returns, value = scratch(n), scratch(n), 0.0
    for episode in range(episodes):
        order = np.arange(n).astype(np.int32)
        for document in range(n):
            perturbed[document] = scores[document] - math.log(-math.log(uniform(key, episode * n + document)))
        sort_best_first(perturbed, order)
        ahead = 0.0
        for step in range(n - 1, -1, -1):
            reward = gain(labels[order[step]]) / max(1.0, math.log2(step + 1.0))
            ahead = reward + discount * ahead
            returns[step] = discount**step * ahead
        value += add_likelihood(scores, order, returns, gradient, curvature)
    for document in range(n):
        gradient[document] /= episodes
        curvature[document] /= episodes
    return value / episodes
