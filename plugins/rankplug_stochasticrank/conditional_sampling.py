r"""StochasticRank's coordinate conditional sampling (Ustimenko and Prokhorenkova, ICML 2020).

With Gaussian noise of its own on every score, the expected metric is smooth. Given the noisy scores of all other
documents, the metric as a function of document i's is a step function, and its mean has the derivative

.. math:: \sum_{j \ne i} \phi_\sigma(\tilde f_j - f_i)\,
          [\text{metric with } i \text{ just above } j - \text{metric with } i \text{ just below } j],

with the density :math:`\phi_\sigma` of the noise. Averaged over draws of the others this is an unbiased estimate of the
derivative, of finite variance; one draw of all noisy scores serves every document. For DCG the step past the document
at rank r of the others is ``(gain_i - gain_j)(discount_r - discount_(r+1))``.

What belongs to the paper's boosting and not to its loss is left out: the noise's shift by the labels, the projection
of the gradient that makes it free of scale, and the Langevin noise in the trees. The metric is NDCG with gains
``2^y - 1``. A list whose labels are all equal is silent.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import gain, ideal_dcg, scratch, sort_best_first, uniform
from rankplug.losses import list_loss


@list_loss
def stochastic_rank(scores, labels, gradient, key, samples, sigma, deepest):
    """Compute minus the mean NDCG of the noisy scores drawn; its gradient is the estimate's."""
    gradient[:] = 0.0
    if labels.max() == labels.min():
        return 0.0
    n = scores.size
    ranks = min(deepest, n)
    ideal = ideal_dcg(labels, ranks)
    discounts, gains, noisy = np.zeros(n), scratch(n), scratch(n)
    for position in range(ranks):
        discounts[position] = 1.0 / math.log2(position + 2.0)
    for document in range(n):
        gains[document] = gain(labels[document]) / ideal
    order, value = np.arange(n).astype(np.int32), 0.0
    height = 1.0 / (sigma * math.sqrt(2.0 * math.pi) * samples)
    for sample in range(samples):
        for document in range(n):
            number = 2 * (sample * n + document)
            radius = math.sqrt(-2.0 * math.log(uniform(key, number)))
            noisy[document] = scores[document] + sigma * radius * math.cos(2.0 * math.pi * uniform(key, number + 1))
        sort_best_first(noisy, order)
        for position in range(n):
            document = order[position]
            value += discounts[position] * gains[document]
            slope = 0.0
            for other_place in range(n):
                # Where it is among all but the document that moves.
                rank = other_place - (other_place > position)
                step = 0.0 if rank + 1 >= n else discounts[rank] - discounts[rank + 1]
                if other_place != position and step != 0.0:
                    other = order[other_place]
                    apart = (noisy[other] - scores[document]) / sigma
                    slope += math.exp(-0.5 * apart * apart) * (gains[document] - gains[other]) * step
            gradient[document] -= height * slope
    return -value / samples
