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
    for position in range(order.size - 1, -1, -1):
        score = scores[order[position]]
        if score > peak:
            mass *= exp(peak - score)
            peak = score
        mass += exp(score - peak)
        peaks[position], masses[position] = peak, mass


@building_block
def add_by_place(scores, order, peaks, masses, earned, discounts, gains, own_reward_expected, ascent):
    """Add an estimate as published: at each place, over the documents that are left."""
    n, ranks = order.size, discounts.size
    for position in range(ranks):
        for later in range(position, n):
            document = order[later]
            odds = exp(scores[document] - peaks[position]) / masses[position]
            own = discounts[position] * gains[document] if own_reward_expected else 0.0
            ascent[document] += odds * (own - earned[position])
        ascent[order[position]] += earned[position + 1] if own_reward_expected else earned[position]


@building_block
def add_along(scores, order, peaks, masses, earned, discounts, gains, ascent):
    """Add the estimate of version 2 by sums that run along the ranking, relative to the mass that is left."""
    n, ranks = order.size, discounts.size
    discounted, rewarded = 0.0, 0.0
    for position in range(n):
        document = order[position]
        if position > 0:
            shrink = masses[position] / masses[position - 1] * exp(peaks[position] - peaks[position - 1])
            discounted *= shrink
            rewarded *= shrink
        if position < ranks:
            discounted += discounts[position]
            rewarded += earned[position]
            ascent[document] += earned[position + 1]
        share = exp(scores[document] - peaks[position]) / masses[position]
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
    for position in range(ranks):
        discounts[position] = 1.0 / math.log2(position + 2.0)
    for document in range(n):
        gains[document] = gain(labels[document]) / ideal
    order, value = np.arange(n).astype(np.int32), 0.0
    for sample in range(samples):
        for document in range(n):
            perturbed[document] = scores[document] - log(-log(uniform(key, sample * n + document)))
        sort_best_first(perturbed, order)
        earned[ranks] = 0.0
        for position in range(ranks - 1, -1, -1):
            earned[position] = earned[position + 1] + discounts[position] * gains[order[position]]
        value += earned[0]
        fill_masses(scores, order, peaks, masses)
        if version == 3:
            add_along(scores, order, peaks, masses, earned, discounts, gains, ascent)
        else:
            add_by_place(scores, order, peaks, masses, earned, discounts, gains, version == 2, ascent)
    for document in range(n):
        gradient[document] = -ascent[document] / samples
    return -value / samples
