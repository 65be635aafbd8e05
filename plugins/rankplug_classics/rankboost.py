"""RankBoost's exponential loss of pairs (Freund, Iyer, Schapire, Singer 2003), as its logarithm.

RankBoost weights the pairs by ``D_ij = exp(-(f_i - f_j))`` over their sum. That is the gradient of the logarithm of the
summed exponentials, which is finite for all finite scores and still convex. The curvature for boosting holds the sum in
the denominator fixed, as RankBoost's own rounds do; that of the logarithm is smaller, and 0 for a single pair.

All pairs of a list together need the time of a sort: with documents by label, sums over the lower and the higher labels
run along.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import building_block
from rankplug.losses import list_loss
from rankplug_classics.label_order import best_label_first
from rankplug_classics.listmle import one_number_a_document


@building_block
def _log_add(one, other):
    low, high = min(one, other), max(one, other)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@building_block
def _log_sums(scores, sign, labels, order, from_the_best, out):
    """Fill for each document the logsumexp of ``sign * scores`` over the documents of higher, or lower, labels."""
    total, group_total, last = -np.inf, -np.inf, -1
    for step in range(order.size):
        document = order[step if from_the_best else order.size - 1 - step]
        if last >= 0 and labels[document] != labels[last]:
            total, group_total = _log_add(total, group_total), -np.inf
        last = document
        out[document] = total
        group_total = _log_add(group_total, sign * scores[document])


@list_loss(constants=best_label_first, constants_length=one_number_a_document, cost="documents")
def rankboost(scores, labels, gradient, curvature, constants):
    """Compute the logarithm of the mean of ``exp(-(f_i - f_j))`` over one list's pairs with ``y_i > y_j``."""
    n = scores.size
    order = constants.astype(np.int32)
    log_lower, log_higher = np.empty(n), np.empty(n)
    _log_sums(scores, 1.0, labels, order, False, log_lower)
    _log_sums(scores, -1.0, labels, order, True, log_higher)
    total, pairs, first = -np.inf, 0, 0
    for place in range(n):
        document = order[place]
        if labels[document] != labels[order[first]]:
            first = place
        pairs += first
        total = _log_add(total, log_lower[document] - scores[document])
    if pairs == 0:
        gradient[:] = 0.0
        curvature[:] = 0.0
        return 0.0
    for document in range(n):
        as_better = math.exp(log_lower[document] - scores[document] - total)
        as_worse = math.exp(log_higher[document] + scores[document] - total)
        gradient[document] = as_worse - as_better
        curvature[document] = as_worse + as_better
    return total - math.log(pairs)
