"""YetiRank (Gulin, Kuralenok, Pavlov 2011): logistic loss of pairs that noise brings next to each other.

Each permutation sorts scores with logistic noise, ``f_i + log(u_i / (1 - u_i))``. The neighbours at ranks r and r + 1
weigh ``|y_i - y_j|`` times ``decay^(r-1)`` (as CatBoost has it) or ``1 / r`` (as the paper has it). The weights of all
permutations are averaged, and held fixed in differentiation. The paper's matrix of how assessors confuse labels is
replaced by the difference of the labels.
"""

from __future__ import annotations

import numpy as np

from rankplug.compiled import add_logistic_pair, logistic, sort_best_first
from rankplug.losses import list_loss

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
