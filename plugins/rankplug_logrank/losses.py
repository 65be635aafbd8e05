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

from rankplug.compiled import building_block, scratch, zeros
from rankplug.losses import list_loss
from rankplug_logrank.closed_forms import bounded_pairs, gain_of_pairs, logistic_pairs, steepness_of
from rankplug_logrank.long_lists import CONVEX, EXPONENTIAL, GAIN, L2, L3, LIKELIHOOD
from rankplug_logrank.rankings import draw_rankings


@building_block
def exponents_of(scores, constants, steepness):
    """Fill ``-w.dphi(y)`` of each ranking of the set, and the distances of the rankings from the ideal one."""
    rankings, width = int(constants[0]), scores.size + 1
    exponents, deltas = scratch(rankings), scratch(rankings)
    for ranking in range(rankings):
        row = constants[1 + ranking * width : 1 + (ranking + 1) * width]
        deltas[ranking] = row[0]
        total = 0.0
        for document in range(scores.size):
            total += row[1 + document] * scores[document]
        exponents[ranking] = -steepness * total
    return exponents, deltas


@building_block
def law_of(exponents, law):
    """Fill the probabilities that are proportional to the exponentials; return the logarithm of their sum."""
    peak, total = exponents[0], 0.0
    for ranking in range(exponents.size):
        peak = max(peak, exponents[ranking])
    for ranking in range(exponents.size):
        law[ranking] = math.exp(exponents[ranking] - peak)
        total += law[ranking]
    for ranking in range(exponents.size):
        law[ranking] /= total
    return peak + math.log(total)


@building_block
def mean_of(values, law):
    """Return the expectation of one value a ranking."""
    total = 0.0
    for ranking in range(values.size):
        total += law[ranking] * values[ranking]
    return total


@building_block
def fill_derivatives(constants, steepness, slopes, law, spreads, gradient, curvature):
    """Fill ``-sum slopes c`` and ``sum spreads (c - E c)^2``.

    Here ``c`` are the rankings' integers times the steepness, and the expectation is taken under the law.
    """
    documents, width = gradient.size, gradient.size + 1
    means, firsts = zeros(documents), zeros(documents)
    gradient[:] = 0.0
    curvature[:] = 0.0
    all_spreads = 0.0
    for ranking in range(slopes.size):
        row = constants[2 + ranking * width : 1 + (ranking + 1) * width]
        slope, chance, weight = slopes[ranking], law[ranking], spreads[ranking]
        all_spreads += weight
        for document in range(documents):
            count = steepness * row[document]
            gradient[document] -= slope * count
            means[document] += chance * count
            firsts[document] += weight * count
            curvature[document] += weight * count * count
    for document in range(documents):
        mean = means[document]
        curvature[document] = max(0.0, curvature[document] - 2.0 * mean * firsts[document] + all_spreads * mean * mean)


def room_for_rankings(lengths, parameters):
    """Return how many numbers the rankings of a list take; none for a closed form."""
    return 0 * lengths if parameters.closed else 1 + (parameters.samples + 1) * (lengths + 1)


@building_block
def silence(gradient, curvature):
    """Fill gradient and curvature of a list without information with 0."""
    gradient[:] = 0.0
    curvature[:] = 0.0
    return 0.0


@list_loss(constants=draw_rankings, constants_length=room_for_rankings, long_lists=LIKELIHOOD)
def logrank_mle(scores, labels, gradient, curvature, constants, closed, divide_by_pairs):
    """Compute minus the log-likelihood of the ideal ranking of one list."""
    steepness, share = steepness_of(labels, divide_by_pairs)
    if share == 0.0:
        return silence(gradient, curvature)
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
    steepness, share = steepness_of(labels, divide_by_pairs)
    if share == 0.0:
        return silence(gradient, curvature)
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
    steepness, share = steepness_of(labels, divide_by_pairs)
    if share == 0.0:
        return silence(gradient, curvature)
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
    steepness, share = steepness_of(labels, divide_by_pairs)
    if share == 0.0:
        return silence(gradient, curvature)
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
    steepness, share = steepness_of(labels, divide_by_pairs)
    if share == 0.0:
        return silence(gradient, curvature)
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
    steepness, share = steepness_of(labels, divide_by_pairs)
    if share == 0.0:
        return silence(gradient, curvature)
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
