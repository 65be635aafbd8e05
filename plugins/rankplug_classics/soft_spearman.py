r"""Spearman's rank correlation over soft ranks (Blondel, Teboul, Berthet, Djolonga, ICML 2020).

The ranks of scores, 1 for the highest, are the corner of the permutahedron of :math:`\rho = (n, \dots, 1)` that is
nearest to :math:`-f` from far away. Soft ranks are the nearest point from near by,

.. math:: r(f) = \operatorname{argmin}_{\mu \in \mathcal P(\rho)} \tfrac12 \lVert \mu + f / \epsilon \rVert^2,

which one isotonic regression of the sorted scores finds in time ``n log n``: documents whose scores are so close that
the regression puts them into one block share a mean rank, but for their distances. The loss is the paper's for label
ranking, :math:`\tfrac12 \lVert r(f) - r(y) \rVert^2`, which for hard ranks is a falling straight line of Spearman's
coefficient. Tied labels share the mean of their ranks, as that coefficient has it. Soft ranks are piecewise linear, and
blocks of one document have the hard rank and no derivative: scores more than :math:`\epsilon` apart learn nothing.
"""

from __future__ import annotations

import numpy as np

from rankplug.compiled import building_block, scratch
from rankplug.losses import list_loss


@building_block
def mean_ranks(values, ranks):
    """Fill the rank of each value, 1 for the highest; equal ones share the mean of theirs."""
    order = np.argsort(values)
    n = values.size
    begin = 0
    for end in range(1, n + 1):
        if end == n or values[order[end]] != values[order[begin]]:
            for position in range(begin, end):
                ranks[order[position]] = n - 0.5 * (begin + end - 1)
            begin = end


@building_block
def falling_regression(values, means, sizes):
    """Fill mean and size of each block of the regression of ``values`` that never rises; return how many there are."""
    blocks = 0
    for position in range(values.size):
        means[blocks], sizes[blocks] = values[position], 1.0
        while blocks > 0 and means[blocks - 1] <= means[blocks]:
            together = sizes[blocks - 1] + sizes[blocks]
            share = sizes[blocks] / together
            means[blocks - 1] += share * (means[blocks] - means[blocks - 1])
            sizes[blocks - 1] = together
            blocks -= 1
        blocks += 1
    return blocks


@list_loss
def soft_spearman(scores, labels, gradient, curvature, epsilon):
    """Compute half the squared distance between soft ranks of scores and ranks of labels; 0 if labels are equal."""
    n = scores.size
    gradient[:] = 0.0
    curvature[:] = 0.0
    if labels.max() == labels.min():
        return 0.0
    wanted, gaps = scratch(n), scratch(n)
    means, sizes = scratch(n), scratch(n)
    mean_ranks(labels, wanted)
    # By falling -f / epsilon, beside falling ranks n to 1.
    order = np.argsort(scores)
    for position in range(n):
        gaps[position] = -scores[order[position]] / epsilon - (n - position)
    value = 0.0
    begin = 0
    for block in range(falling_regression(gaps, means, sizes)):
        end = begin + int(sizes[block])
        mean = 0.0
        for position in range(begin, end):
            document = order[position]
            # The soft rank, less what is wanted.
            gaps[position] = gaps[position] + (n - position) - means[block] - wanted[document]
            value += 0.5 * gaps[position] * gaps[position]
            mean += gaps[position] / sizes[block]
        for position in range(begin, end):
            gradient[order[position]] = (mean - gaps[position]) / epsilon
            curvature[order[position]] = (1.0 - 1.0 / sizes[block]) / (epsilon * epsilon)
        begin = end
    return value
