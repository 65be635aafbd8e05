r"""FRank's fidelity loss of pairs (Tsai, Liu, Qin, Chen, Ma 2007).

The model's chance that i is better than j is :math:`P = \sigma(f_i - f_j)`, the target is 1 for the pairs with
:math:`y_i > y_j`, and the loss of such a pair, :math:`1 - \sqrt{P^* P} - \sqrt{(1 - P^*)(1 - P)}`, is
:math:`1 - \sqrt P`. It lies between 0 and 1, so that a pair which cannot be put right does not outweigh the others, and
it is not convex. Each list weighs the same, however many pairs it has.

The curvature for boosting is the size of the slope, as of a loss that falls by :math:`e^{-\alpha}`; FRank's own step
rests on the same, see :mod:`rankplug_classics.frank_engine`.
"""

from __future__ import annotations

import math

from rankplug.compiled import building_block
from rankplug.losses import list_loss


@building_block
def fidelity_of(gap):
    """Return the loss of a pair whose better document leads by a gap, the size of its slope, and P."""
    e = math.exp(-abs(gap))
    right, wrong = (1.0 / (1.0 + e), e / (1.0 + e)) if gap >= 0.0 else (e / (1.0 + e), 1.0 / (1.0 + e))
    root = math.sqrt(right)
    return wrong / (1.0 + root), 0.5 * root * wrong, right


@list_loss
def fidelity(scores, labels, gradient, curvature, mean):
    """Compute one list's sum of ``1 - sqrt(P)`` over pairs with ``y_i > y_j``, divided by their number."""
    gradient[:] = 0.0
    curvature[:] = 0.0
    value, pairs = 0.0, 0
    for better in range(scores.size):
        for worse in range(scores.size):
            if labels[better] > labels[worse]:
                loss, slope, _ = fidelity_of(scores[better] - scores[worse])
                value, pairs = value + loss, pairs + 1
                gradient[better] -= slope
                gradient[worse] += slope
                curvature[better] += slope
                curvature[worse] += slope
    if mean and pairs:
        gradient /= pairs
        curvature /= pairs
        value /= pairs
    return value
