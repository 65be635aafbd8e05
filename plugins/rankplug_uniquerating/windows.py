"""The windowed likelihood (Eq. 3): a document competes with its lower-rated ones in windows of a few at a time.

The lower-rated documents of a rating stand by descending score, and are cut into consecutive windows of ``u``; the last
may be shorter. The order counts as fixed when the loss is differentiated.
"""

from __future__ import annotations

import numpy as np

from rankplug.compiled import building_block, exp, log


@building_block
def next_lower(gains, above):
    """Return the largest of the gains below ``above``; -1 if there is none."""
    lower = -1.0
    for i in range(gains.size):
        if lower < gains[i] < above:
            lower = gains[i]
    return lower


@building_block
def gather_with_gain(gains, order, least, most, found):
    """Put the documents with gains from ``least`` to ``most`` into ``found`` by rank; return how many there are."""
    number = 0
    for position in range(order.size):
        if least <= gains[order[position]] <= most:
            found[number] = order[position]
            number += 1
    return number


@building_block
def windowed_loss(scores, gains, order, window, gradient, curvature):
    """Add up gradient and curvature over all ratings and windows of one list; return loss and number of ratings."""
    n = scores.size
    rated, lower = np.empty(n, np.int32), np.empty(n, np.int32)
    value, ratings, level = 0.0, 1, next_lower(gains, np.inf)
    while True:
        below = next_lower(gains, level)
        if below < 0.0:
            return value, ratings
        members = rated[: gather_with_gain(gains, order, level, level, rated)]
        competitors = lower[: gather_with_gain(gains, order, 0.0, below, lower)]
        for first in range(0, competitors.size, window):
            value += level * _one_window(
                scores, level, members, competitors[first : first + window], gradient, curvature
            )
        ratings += 1
        level = below


@building_block
def _one_window(scores, weight, members, competitors, gradient, curvature):
    """Return the loss of the documents of one rating against one window of competitors, best first."""
    mass = 0.0
    for j in competitors:
        mass += exp(scores[j] - scores[competitors[0]])
    rival = scores[competitors[0]] + log(mass)
    value, push, push_squared = 0.0, 0.0, 0.0
    for d in members:
        joint = max(scores[d], rival) + log(1.0 + exp(-abs(scores[d] - rival)))
        lost = exp(rival - joint)
        value += joint - scores[d]
        gradient[d] -= weight * lost
        curvature[d] += weight * lost * exp(scores[d] - joint)
        push += weight * lost
        push_squared += weight * lost * lost
    for j in competitors:
        share = exp(scores[j] - rival)
        gradient[j] += share * push
        curvature[j] += max(share * (push - share * push_squared), 0.0)
    return value
