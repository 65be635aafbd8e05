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
    for position in range(n - 1, -1, -1):
        score = scores[order[position]]
        if score > peak:
            mass *= exp(peak - score)
            peak = score
        terms[position] = exp(score - peak)
        mass += terms[position]
        masses[position], peaks[position] = mass, peak
    value, drawn, squares = 0.0, 0.0, 0.0
    for position in range(n):
        value += weights[position] * (peaks[position] + log(masses[position]))
    for position in range(n):
        document, weight = order[position], weights[position]
        value -= weight * scores[document]
        if position > 0:
            shrink = masses[position] / masses[position - 1]
            if peaks[position] != peaks[position - 1]:
                shrink *= exp(peaks[position] - peaks[position - 1])
            drawn *= shrink
            squares *= shrink * shrink
        drawn += weight
        squares += weight
        share = terms[position] / masses[position]
        gradient[document] += drawn * share - weight
        curvature[document] += max(0.0, drawn * share - squares * share * share)
    return value
