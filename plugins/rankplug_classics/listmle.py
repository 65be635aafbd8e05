"""ListMLE (Xia, Liu, Wang, Zhang, Li 2008) and p-ListMLE (Lan, Zhu, Guo, Niu, Cheng 2014)."""

from __future__ import annotations

import numpy as np

from rankplug.compiled import scratch
from rankplug.losses import list_loss
from rankplug_classics.label_order import best_label_first, shuffle_ties
from rankplug_classics.plackett_luce import add_likelihood

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
