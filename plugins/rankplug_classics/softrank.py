r"""SoftRank (Taylor, Guiver, Robertson, Minka 2008): expected NDCG when every score has Gaussian noise of its own.

Document i beats j with probability :math:`p_{ij} = \Phi((f_i - f_j) / (\sigma\sqrt2))`. Taking the contests of one
document as independent, its rank counts successes of unequal probability, whose law a recursion over the contests
gives. The same recursion run backwards over the discounts gives every derivative at once, so a list takes
``relevant documents x documents x min(cutoff, documents)`` steps.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import building_block, gain, ideal_dcg, scratch
from rankplug.losses import list_loss


@building_block
def expected_discount(beaten, discounts, laws, ahead, slopes):
    """Return the expected discount of a document that loses contest t with probability ``beaten[t]``.

    Args:
        beaten: probabilities, one a contest.
        discounts: of the ranks from the first; 0 beyond.
        laws: to fill, row t the probabilities of the ranks after t contests.
        ahead: work space, of one more than the discounts.
        slopes: to fill, the derivative by each probability.
    """
    ranks, contests = discounts.size, beaten.size
    laws[0, :] = 0.0
    laws[0, 0] = 1.0
    for contest in range(contests):
        lost, law, law_after = beaten[contest], laws[contest], laws[contest + 1]
        law_after[0] = law[0] * (1.0 - lost)
        for rank in range(1, ranks):
            law_after[rank] = law[rank] * (1.0 - lost) + law[rank - 1] * lost
    value = 0.0
    for rank in range(ranks):
        value += laws[contests, rank] * discounts[rank]
        ahead[rank] = discounts[rank]
    ahead[ranks] = 0.0
    for contest in range(contests - 1, -1, -1):
        lost, law, slope = beaten[contest], laws[contest], 0.0
        for rank in range(ranks):
            step = ahead[rank + 1] - ahead[rank]
            slope += law[rank] * step
            ahead[rank] += lost * step
        slopes[contest] = slope
    return value


@list_loss
def softrank(scores, labels, gradient, curvature, sigma, deepest):
    """Compute minus the expected NDCG of one list at the cut-off; 0 if all labels are equal."""
    n = scores.size
    gradient[:] = 0.0
    if labels.max() == labels.min():
        return 0.0
    ranks = min(deepest, n)
    ideal = ideal_dcg(labels, ranks)
    discounts, laws, ahead = scratch(ranks), np.empty((n, ranks)), scratch(ranks + 1)
    for rank in range(ranks):
        discounts[rank] = 1.0 / math.log2(rank + 2.0)
    beaten, slopes, value = scratch(n - 1), scratch(n - 1), 0.0
    for document in range(n):
        if labels[document] <= 0.0:
            continue
        share = gain(labels[document]) / ideal
        for contest in range(n - 1):
            other = contest + (contest >= document)
            beaten[contest] = 0.5 * math.erfc((scores[document] - scores[other]) / (2.0 * sigma))
        value -= share * expected_discount(beaten, discounts, laws, ahead, slopes)
        for contest in range(n - 1):
            other = contest + (contest >= document)
            gap = (scores[document] - scores[other]) / (2.0 * sigma)
            density = math.exp(-gap * gap) / (2.0 * sigma * math.sqrt(math.pi))
            push = share * slopes[contest] * density
            gradient[document] += push
            gradient[other] -= push
    return value
