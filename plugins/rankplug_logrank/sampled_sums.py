"""Sums over a set of rankings, with the law ``Pr(y) ~ exp(-w.dphi(y))`` renormalised on the set.

``w.dphi(y) = w.(phi(ideal) - phi(y))`` is a weighted sum of the scores, with one integer a document.
"""

from __future__ import annotations

import math

from rankplug.compiled import building_block, scratch, zeros


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
