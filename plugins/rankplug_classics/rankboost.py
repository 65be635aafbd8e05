"""RankBoost's exponential loss of pairs (Freund, Iyer, Schapire, Singer 2003).

RankBoost weights the pairs by ``D_ij = exp(-(f_i - f_j))`` over their sum, and D is one law over the pairs of all
lists: a list with more pairs, or with worse ones, weighs more. That is the gradient of the summed exponentials, up to a
factor that all lists share; exponents stop at :data:`STEEPEST`, so that no score is too far off.

With ``pairs=list`` each list has a law of its own. It is the gradient of the logarithm of the list's exponentials,
which is still convex. The curvature for boosting then holds the sum in the denominator fixed, as RankBoost's own rounds
do; that of the logarithm is smaller, and 0 for a single pair.

All pairs of a list together need the time of a sort: with documents by label, sums over the lower and the higher labels
run along.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import building_block
from rankplug.losses import list_loss
from rankplug_classics.likelihoods import best_label_first, one_number_a_document

ALL = 0
"""Position of ``all`` among the words of the parameter ``pairs``."""
STEEPEST = 80.0
"""Largest exponent of a document's pairs; the exponential of more would not fit into single precision."""


@building_block
def _log_add(first, other):
    low, high = min(first, other), max(first, other)
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
def rankboost(scores, labels, gradient, curvature, constants, pairs):
    """Compute one list's sum of ``exp(-(f_i - f_j))`` over pairs with ``y_i > y_j``, or the logarithm of their mean."""
    n = scores.size
    order = constants.astype(np.int32)
    log_lower, log_higher = np.empty(n), np.empty(n)
    _log_sums(scores, 1.0, labels, order, False, log_lower)
    _log_sums(scores, -1.0, labels, order, True, log_higher)
    total, number, first = -np.inf, 0, 0
    for position in range(n):
        document = order[position]
        if labels[document] != labels[order[first]]:
            first = position
        number += first
        total = _log_add(total, log_lower[document] - scores[document])
    if number == 0:
        gradient[:] = 0.0
        curvature[:] = 0.0
        return 0.0
    share_of = 0.0 if pairs == ALL else total
    for document in range(n):
        as_better = math.exp(min(STEEPEST, log_lower[document] - scores[document] - share_of))
        as_worse = math.exp(min(STEEPEST, log_higher[document] + scores[document] - share_of))
        gradient[document] = as_worse - as_better
        curvature[document] = as_worse + as_better
    return math.exp(min(STEEPEST, total)) if pairs == ALL else total - math.log(number)
