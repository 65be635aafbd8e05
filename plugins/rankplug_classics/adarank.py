r"""AdaRank (Xu and Li 2007): the exponential loss :math:`e^{-E}` of a measure ``E`` of the list's order.

The measure is average precision, with labels of 1 or more as relevant, or NDCG. AdaRank itself follows values only, see
:mod:`rankplug_classics.adarank_engine`. For engines that follow gradients the pairs are pushed apart as in
LambdaRank: by the logistic gradient times what an exchange of the two documents changes the measure by, times the loss.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import building_block, sort_best_first
from rankplug.losses import list_loss

AVERAGE_PRECISION = 0
"""Position of ``map`` among the words of the parameter ``measure``."""
LOG2 = 0
"""Position of ``log2`` among the words of the parameter ``discount``."""


@building_block
def _fill_gains(labels, order, places, discount, gains, discounts):
    """Fill gains and discounts by rank, and return the DCG of the best order."""
    n = order.size
    best, reach = np.sort(labels)[::-1], min(n, places)
    ideal = 0.0
    for rank in range(n):
        gains[rank] = 2.0 ** labels[order[rank]] - 1.0
        within = 1.0 / math.log2(rank + 2.0 if discount == LOG2 else max(rank + 1.0, 2.0))
        discounts[rank] = within if rank < reach else 0.0
        ideal += (2.0 ** best[rank] - 1.0) * discounts[rank]
    return ideal


@building_block
def _fill_precisions(labels, order, found, shares):
    """Fill by rank how many relevant documents stand there or above, and the sum of their ``1 / rank``; return all."""
    count, total = 0.0, 0.0
    for rank in range(order.size):
        if labels[order[rank]] >= 1.0:
            count += 1.0
            total += 1.0 / (rank + 1.0)
        found[rank], shares[rank] = count, total
    return count


@building_block
def _change_of_precision(upper, lower, upper_is_relevant, found, shares):
    """Return how much the sum of precisions changes where a relevant and another document at two ranks exchange."""
    between = shares[lower - 1] - shares[upper]
    at_lower = found[lower] / (lower + 1.0)
    if upper_is_relevant:
        return found[upper] / (upper + 1.0) + between - at_lower
    return (found[upper] + 1.0) / (upper + 1.0) + between - at_lower


@list_loss
def adarank(scores, labels, gradient, curvature, order, measure, places, discount):
    """Compute the loss of one list, which is 1 where no order is better than another."""
    gradient[:] = 0.0
    curvature[:] = 0.0
    n = scores.size
    sort_best_first(scores, order)
    first, second = np.empty(n), np.empty(n)
    by_precision = measure == AVERAGE_PRECISION
    if by_precision:
        whole = _fill_precisions(labels, order, first, second)
    else:
        whole = _fill_gains(labels, order, places, discount, first, second)
    if whole == 0.0:
        return 1.0
    quality = 0.0
    for rank in range(n):
        if not by_precision:
            quality += first[rank] * second[rank]
        elif labels[order[rank]] >= 1.0:
            quality += first[rank] / (rank + 1.0)
    loss = math.exp(-quality / whole)
    for upper in range(n):
        for lower in range(upper + 1, n):
            i, j = order[upper], order[lower]
            if by_precision:
                relevant = labels[i] >= 1.0
                if relevant == (labels[j] >= 1.0):
                    continue
                change = _change_of_precision(upper, lower, relevant, first, second)
                above = relevant
            else:
                if labels[i] == labels[j]:
                    continue
                change = abs((first[upper] - first[lower]) * (second[upper] - second[lower]))
                above = labels[i] > labels[j]
            better, worse = (i, j) if above else (j, i)
            e = math.exp(-abs(scores[i] - scores[j]))
            # The scores descend: the better document leads exactly if it is the upper one.
            share = (e if above else 1.0) / (1.0 + e)
            weight = loss * change / whole
            gradient[better] -= weight * share
            gradient[worse] += weight * share
            curvature[better] += weight * share * (1.0 - share)
            curvature[worse] += weight * share * (1.0 - share)
    return loss
