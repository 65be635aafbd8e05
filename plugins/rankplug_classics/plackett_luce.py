"""Minus the weighted log-likelihood of an order of documents, chosen one by one with odds ``e^f``."""

from __future__ import annotations

from rankplug.compiled import building_block, exp, log, scratch


@building_block
def add_likelihood(scores, order, weights, gradient, curvature):
    """Add the derivatives of ``sum_t w_t [logsumexp(f of ranks t to n) - f of rank t]``, and return the sum.

    The mass that is left at each place is kept relative to the largest score left, so no score is too far off.
    """
    n = order.size
    terms, masses, peaks = scratch(n), scratch(n), scratch(n)
    peak, mass = scores[order[n - 1]], 0.0
    for place in range(n - 1, -1, -1):
        score = scores[order[place]]
        if score > peak:
            mass *= exp(peak - score)
            peak = score
        terms[place] = exp(score - peak)
        mass += terms[place]
        masses[place], peaks[place] = mass, peak
    value, drawn, squares = 0.0, 0.0, 0.0
    for place in range(n):
        value += weights[place] * (peaks[place] + log(masses[place]))
    for place in range(n):
        document, weight = order[place], weights[place]
        value -= weight * scores[document]
        if place > 0:
            shrink = masses[place] / masses[place - 1]
            if peaks[place] != peaks[place - 1]:
                shrink *= exp(peaks[place] - peaks[place - 1])
            drawn *= shrink
            squares *= shrink * shrink
        drawn += weight
        squares += weight
        share = terms[place] / masses[place]
        gradient[document] += drawn * share - weight
        curvature[document] += max(0.0, drawn * share - squares * share * share)
    return value
