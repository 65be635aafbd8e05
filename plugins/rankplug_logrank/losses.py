r"""The paper's losses of one list, over all sign matrices by a closed form or over rankings drawn before training.

With :math:`\Pr(y) \propto e^{-w \cdot \delta\phi(y)}`, :math:`\Delta` the distance of a ranking from the ideal one and
:math:`w \cdot \delta\phi(y) = \sum_{gb} (1 - y_{gb}) (f_g - f_b)`:

======================= ===========================================================
``logrank_l2``           ``E[Delta]``, (4), which is (11)
``logrank_exponential``  ``log E[e^Delta]``, (5) with ``f = e^x``
``exp_gain``             ``-log E[1 - Delta]``, (6)
``logrank_mle``          ``L1 = log sum_y exp(-w.dphi(y))``, (10)
``logrank_l3``           ``L1 + E[Delta]``, (12)
``convex_loss``          ``log sum_y exp(Delta(y) - w.dphi(y))``, (14)
======================= ===========================================================

ConvexLoss is therefore L1 + (5), as L3 is L1 + (4).

A list without any good or without any bad document is silent. The rankings take ``8 samples`` bytes a document.
"""

from __future__ import annotations

import math

from rankplug.compiled import building_block, scratch
from rankplug.losses import list_loss
from rankplug_logrank.closed_forms import bounded_pairs, gain_of_pairs, logistic_pairs
from rankplug_logrank.long_lists import CONVEX, EXPONENTIAL, GAIN, L2, L3, LIKELIHOOD
from rankplug_logrank.rankings import draw_rankings
from rankplug_logrank.sampled_sums import exponents_of, fill_derivatives, law_of, mean_of


def room_for_rankings(lengths, parameters):
    """Return how many numbers the rankings of a list take; none for a closed form."""
    return 0 * lengths if parameters.closed else 1 + (parameters.samples + 1) * (lengths + 1)


@building_block
def share_of_a_pair(labels):
    """Return one over the number of pairs of a good and a bad document; 0 where there is none."""
    goods = 0
    for document in range(labels.size):
        goods += labels[document] >= 1.0
    pairs = goods * (labels.size - goods)
    return 1.0 / pairs if pairs > 0 else 0.0


@building_block
def silence(gradient, curvature):
    """Fill gradient and curvature of a list without information with 0."""
    gradient[:] = 0.0
    curvature[:] = 0.0
    return 0.0


@list_loss(constants=draw_rankings, constants_length=room_for_rankings, long_lists=LIKELIHOOD)
def logrank_mle(scores, labels, gradient, curvature, constants, closed, divide_by_pairs):
    """Compute minus the log-likelihood of the ideal ranking of one list."""
    share = share_of_a_pair(labels)
    if share == 0.0:
        return silence(gradient, curvature)
    steepness = 2.0 * share if divide_by_pairs else 2.0
    if closed:
        return logistic_pairs(scores, labels, steepness, 0.0, 0.0, gradient, curvature)
    exponents, _ = exponents_of(scores, constants, steepness)
    law = scratch(exponents.size)
    value = law_of(exponents, law)
    fill_derivatives(constants, steepness, law, law, law, gradient, curvature)
    return value


@list_loss(constants=draw_rankings, constants_length=room_for_rankings, long_lists=GAIN)
def exp_gain(scores, labels, gradient, curvature, constants, closed, divide_by_pairs):
    """Compute ExpGain of one list, which is not convex; the curvature for boosting is that of the likelihood."""
    share = share_of_a_pair(labels)
    if share == 0.0:
        return silence(gradient, curvature)
    steepness = 2.0 * share if divide_by_pairs else 2.0
    if closed:
        return gain_of_pairs(scores, labels, steepness, gradient, curvature)
    exponents, deltas = exponents_of(scores, constants, steepness)
    law, weighted, slopes = scratch(exponents.size), scratch(exponents.size), scratch(exponents.size)
    for ranking in range(exponents.size):
        weighted[ranking] = exponents[ranking] + math.log(max(0.0, 1.0 - deltas[ranking]))
    value = law_of(exponents, law) - law_of(weighted, slopes)
    for ranking in range(exponents.size):
        slopes[ranking] = law[ranking] - slopes[ranking]
    fill_derivatives(constants, steepness, slopes, law, law, gradient, curvature)
    return value


@list_loss(constants=draw_rankings, constants_length=room_for_rankings, long_lists=L3)
def logrank_l3(scores, labels, gradient, curvature, constants, closed, divide_by_pairs):
    """Compute L3 of one list, which is convex if Delta lies between 0 and 1, although the paper calls it not convex."""
    share = share_of_a_pair(labels)
    if share == 0.0:
        return silence(gradient, curvature)
    steepness = 2.0 * share if divide_by_pairs else 2.0
    if closed:
        return logistic_pairs(scores, labels, steepness, 0.0, share, gradient, curvature)
    exponents, deltas = exponents_of(scores, constants, steepness)
    law = scratch(exponents.size)
    value = law_of(exponents, law)
    expected = mean_of(deltas, law)
    slopes = scratch(exponents.size)
    for ranking in range(exponents.size):
        slopes[ranking] = law[ranking] * (1.0 + deltas[ranking] - expected)
    fill_derivatives(constants, steepness, slopes, law, slopes, gradient, curvature)
    return value + expected


@list_loss(constants=draw_rankings, constants_length=room_for_rankings, long_lists=CONVEX)
def convex_loss(scores, labels, gradient, curvature, constants, closed, divide_by_pairs):
    """Compute the soft maximum over one list's rankings of the structured hinge."""
    share = share_of_a_pair(labels)
    if share == 0.0:
        return silence(gradient, curvature)
    steepness = 2.0 * share if divide_by_pairs else 2.0
    if closed:
        return logistic_pairs(scores, labels, steepness, share, 0.0, gradient, curvature)
    exponents, deltas = exponents_of(scores, constants, steepness)
    law = scratch(exponents.size)
    for ranking in range(exponents.size):
        exponents[ranking] += deltas[ranking]
    value = law_of(exponents, law)
    fill_derivatives(constants, steepness, law, law, law, gradient, curvature)
    return value


@list_loss(constants=draw_rankings, constants_length=room_for_rankings, long_lists=L2)
def logrank_l2(scores, labels, gradient, curvature, constants, closed, divide_by_pairs):
    """Compute the expected Delta of one list, which is not convex; the curvature for boosting is the likelihood's."""
    share = share_of_a_pair(labels)
    if share == 0.0:
        return silence(gradient, curvature)
    steepness = 2.0 * share if divide_by_pairs else 2.0
    if closed:
        return bounded_pairs(scores, labels, steepness, share, False, gradient, curvature)
    exponents, deltas = exponents_of(scores, constants, steepness)
    law, slopes = scratch(exponents.size), scratch(exponents.size)
    law_of(exponents, law)
    expected = mean_of(deltas, law)
    for ranking in range(exponents.size):
        slopes[ranking] = law[ranking] * (deltas[ranking] - expected)
    fill_derivatives(constants, steepness, slopes, law, law, gradient, curvature)
    return expected


@list_loss(constants=draw_rankings, constants_length=room_for_rankings, long_lists=EXPONENTIAL)
def logrank_exponential(scores, labels, gradient, curvature, constants, closed, divide_by_pairs):
    """Compute ``log E[e^Delta]`` of one list, which is not convex; the curvature for boosting is the likelihood's."""
    share = share_of_a_pair(labels)
    if share == 0.0:
        return silence(gradient, curvature)
    steepness = 2.0 * share if divide_by_pairs else 2.0
    if closed:
        return bounded_pairs(scores, labels, steepness, share, True, gradient, curvature)
    exponents, deltas = exponents_of(scores, constants, steepness)
    law, tilted, slopes = scratch(exponents.size), scratch(exponents.size), scratch(exponents.size)
    law_of(exponents, law)
    value = 0.0
    for ranking in range(exponents.size):
        value += law[ranking] * math.expm1(deltas[ranking])
        tilted[ranking] = exponents[ranking] + deltas[ranking]
    law_of(tilted, slopes)
    for ranking in range(exponents.size):
        slopes[ranking] -= law[ranking]
    fill_derivatives(constants, steepness, slopes, law, law, gradient, curvature)
    return math.log1p(value)
