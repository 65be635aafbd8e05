r"""MDPRank (Wei, Xu, Lan, Guo, Cheng 2017): the policy gradient of ranking as a decision process.

At step t (from 0) the policy draws one of the documents that are left with odds ``e^f`` and earns
``r_0 = 2^y - 1`` and ``r_t = (2^y - 1) / log2(t + 1)``. With the return ``G_t = sum_k discount^k r_(t+k)``, ascent
follows :math:`\sum_t \mathrm{discount}^t\, G_t\, \nabla \log \pi(a_t)`. The loss whose gradient this is, for the
episodes drawn, is ``-sum_t discount^t G_t log pi(a_t)``; it says how likely the episodes were, not how good.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import gain, scratch, sort_best_first, uniform
from rankplug.losses import list_loss
from rankplug_classics.plackett_luce import add_likelihood


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
