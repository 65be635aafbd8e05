r"""PL-Rank: unbiased gradients of a ranking metric under the Plackett-Luce law of rankings.

Version 1 and 2 are of Oosterhuis, Computationally Efficient Optimization of Plackett-Luce Ranking Models for Relevance
and Fairness, SIGIR 2021; version 3 of Learning-to-Rank at the Speed of Sampling, SIGIR 2022. With the discount
:math:`\theta_r` of rank r, the gain :math:`\rho_d`, the rank :math:`r(d)` of document d in a ranking R that was drawn
(or the cut-off k, if d stands below it), the odds :math:`\pi(d \mid s)` with which the policy chooses d at rank s among
the documents left, and what is earned from rank s on, :math:`V_s = \sum_{t=s}^{k} \theta_t \rho_{R_t}`,

.. math::

   \text{PL-Rank-1:}\quad V_{r(d)} - \sum_{s \le r(d)} \pi(d \mid s) V_s
   \qquad
   \text{PL-Rank-2:}\quad V_{r(d)+1} + \sum_{s \le r(d)} \pi(d \mid s)(\theta_s \rho_d - V_s)

are estimates of the derivative of the expected metric by the score of d; of a document below the cut-off the first
term is 0. Version 1 is the policy gradient with the rewards that follow each choice; version 2 puts the expectation
in place of the reward of d itself, which lowers the variance. Version 3 is version 2, computed with sums that run
along the ranking: a draw then takes the time of a sort in place of k times the documents.

The metric is NDCG with gains ``2^y - 1``. A list whose labels are all equal is silent.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import building_block, exp, gain, ideal_dcg, log, scratch, sort_best_first, uniform
from rankplug.losses import list_loss


@building_block
def fill_masses(scores, order, peaks, masses):
    """Fill in what all documents from each place on weigh, ``masses e^peaks``; no score is too far off."""
    peak, mass = scores[order[order.size - 1]], 0.0
    for place in range(order.size - 1, -1, -1):
        score = scores[order[place]]
        if score > peak:
            mass *= exp(peak - score)
            peak = score
        mass += exp(score - peak)
        peaks[place], masses[place] = peak, mass


@building_block
def add_by_place(scores, order, peaks, masses, earned, discounts, gains, own_reward_expected, ascent):
    """Add an estimate as published: at each place, over the documents that are left."""
    n, ranks = order.size, discounts.size
    for place in range(ranks):
        for later in range(place, n):
            document = order[later]
            odds = exp(scores[document] - peaks[place]) / masses[place]
            own = discounts[place] * gains[document] if own_reward_expected else 0.0
            ascent[document] += odds * (own - earned[place])
        ascent[order[place]] += earned[place + 1] if own_reward_expected else earned[place]


@building_block
def add_along(scores, order, peaks, masses, earned, discounts, gains, ascent):
    """Add the estimate of version 2 by sums that run along the ranking, relative to the mass that is left."""
    n, ranks = order.size, discounts.size
    discounted, rewarded = 0.0, 0.0
    for place in range(n):
        document = order[place]
        if place > 0:
            shrink = masses[place] / masses[place - 1] * exp(peaks[place] - peaks[place - 1])
            discounted *= shrink
            rewarded *= shrink
        if place < ranks:
            discounted += discounts[place]
            rewarded += earned[place]
            ascent[document] += earned[place + 1]
        share = exp(scores[document] - peaks[place]) / masses[place]
        ascent[document] += share * (gains[document] * discounted - rewarded)


@list_loss(cost="documents")
def pl_rank(scores, labels, gradient, key, samples, version, deepest):
    """Compute minus the mean NDCG of the rankings drawn; its gradient is the estimate's."""
    gradient[:] = 0.0
    if labels.max() == labels.min():
        return 0.0
    n = scores.size
    ranks = min(deepest, n)
    ideal = ideal_dcg(labels, ranks)
    discounts, gains, earned = scratch(ranks), scratch(n), scratch(ranks + 1)
    perturbed, peaks, masses, ascent = scratch(n), scratch(n), scratch(n), np.zeros(n)
    for place in range(ranks):
        discounts[place] = 1.0 / math.log2(place + 2.0)
    for document in range(n):
        gains[document] = gain(labels[document]) / ideal
    order, value = np.arange(n).astype(np.int32), 0.0
    for sample in range(samples):
        for document in range(n):
            perturbed[document] = scores[document] - log(-log(uniform(key, sample * n + document)))
        sort_best_first(perturbed, order)
        earned[ranks] = 0.0
        for place in range(ranks - 1, -1, -1):
            earned[place] = earned[place + 1] + discounts[place] * gains[order[place]]
        value += earned[0]
        fill_masses(scores, order, peaks, masses)
        if version == 3:
            add_along(scores, order, peaks, masses, earned, discounts, gains, ascent)
        else:
            add_by_place(scores, order, peaks, masses, earned, discounts, gains, version == 2, ascent)
    for document in range(n):
        gradient[document] = -ascent[document] / samples
    return -value / samples
