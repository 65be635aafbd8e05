r"""LambdaGap (Adàlia, Sanjuan, Margalef, Zamora, The LambdaGap Framework for Precision-Oriented Ranking, 2025).

LambdaRank for precision at k pushes only pairs with one document on either side of rank k. LambdaGap takes a relevant
document and another wherever they stand, if k ranks or more lie between their ranks r and q:

* ``gap=x``: :math:`|r - q| \ge k`; ``gap=s``: :math:`|r - q| = k`. Each weighs 1.
* ``beside=precision``: mu for such a pair, and 1 for a pair with the better rank within k and the other behind it,
  whose exchange changes precision at k (LambdaGap-X+ and S+).
* ``beside=arp``: mu, and what the exchange changes the relevant document's :math:`\max(0, r - k)` by, the average
  relevance position beyond k (LambdaGap-X++ and S++).

The weights are those of the authors' release, a LightGBM with ``lambdarank_target=lambdagap-x`` and so on, whose
``lambdarank_truncation_level`` is k here; documents are relevant from label 1 on. They are held fixed in
differentiation. The paper's own text was not at hand.
"""

from __future__ import annotations

import math

from rankplug.compiled import add_logistic_pair, building_block, scratch, sort_best_first
from rankplug.losses import list_loss

REGULARISER = 0.01
EXACTLY = 1
"""Position of ``s`` among the words of the parameter ``gap``."""
NOTHING, PRECISION = 0, 1
"""Positions among the words of the parameter ``beside``."""


@building_block
def weight_of(upper, lower, k, gap, beside, mu):
    """Return the weight of a relevant document and another at two ranks, from 0."""
    apart = lower - upper
    counts = apart == k if gap == EXACTLY else apart >= k
    if beside == NOTHING:
        return 1.0 if counts else 0.0
    weight = mu if counts else 0.0
    if beside == PRECISION:
        return weight + (1.0 if upper < k <= lower else 0.0)
    return weight + max(0, lower + 1 - k) - max(0, upper + 1 - k)


@list_loss
def lambdagap(scores, labels, gradient, curvature, order, k, gap, beside, mu, sigma, norm):
    """Compute one list's weighted logistic losses of relevant documents and others."""
    n = scores.size
    gradient[:] = 0.0
    curvature[:] = 0.0
    ranked = sort_best_first(scores, order)
    steep, value, pushes = scratch(n), 0.0, 0.0
    for document in range(n):
        steep[document] = sigma * scores[document]
    by_score = norm and ranked[0] != ranked[n - 1]
    for upper in range(n):
        # A pair with both ranks within k has no weight, so that the lower one begins at k.
        for lower in range(max(upper + 1, k), n):
            better, worse = order[upper], order[lower]
            if (labels[better] >= 1.0) == (labels[worse] >= 1.0):
                continue
            if labels[worse] >= 1.0:
                better, worse = worse, better
            weight = weight_of(upper, lower, k, gap, beside, mu)
            if weight > 0.0:
                if by_score:
                    weight /= REGULARISER + abs(scores[better] - scores[worse])
                before = gradient[worse]
                value += add_logistic_pair(steep, better, worse, weight, gradient, curvature)
                pushes += 2.0 * sigma * (gradient[worse] - before)
    scale = math.log2(1.0 + pushes) / pushes if norm and pushes > 0.0 else 1.0
    gradient *= scale * sigma
    curvature *= scale * sigma * sigma
    return scale * value
