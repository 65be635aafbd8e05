"""Weighted logistic losses of a list's pairs, one row of pairs at a time, with one exponential a document.

Documents stand in rank order, so that the gap of a document to those below it is never negative. With
``e = exp(sigma s)`` kept for each, the sigmoid of any gap is a quotient, and rows run without a branch.
"""

from __future__ import annotations

from rankplug.compiled import WIDEST, building_block, exponentials_from, log


@building_block
def start_rows(exponents, exponentials):
    """Fill the exponentials about the middle of the exponents; tell whether they spread too wide for one origin."""
    origin = 0.5 * (exponents[0] + exponents[-1])
    exponentials_from(exponents, origin, exponentials)
    return origin, exponents[0] - exponents[-1] > WIDEST


@building_block
def add_row(row, exponents, exponentials, origin, wide, weights, valued, gradient, curvature):
    """Add the pairs of the document at rank ``place`` with all below it; return their loss if it is ``valued``.

    The loss of a pair is ``|w| log(1 + exp(-(x_better - x_worse)))``. A positive weight says that the upper document is
    the better one, a negative weight that the lower is, and 0 that the pair does not count.
    """
    if wide:
        origin = exponents[row]
        exponentials_from(exponents[row:], origin, exponentials[row:])
    below = slice(row + 1, exponents.size)
    own, others, weights_below = exponentials[row], exponentials[below], weights[below]
    gradient_below, curvature_below = gradient[below], curvature[below]
    pull, bend = 0.0, 0.0
    for j in range(others.size):
        share = 1.0 / (own + others[j])
        own_share, other_share = own * share, others[j] * share
        push = weights_below[j] * (other_share if weights_below[j] > 0.0 else own_share)
        curve = abs(weights_below[j]) * own_share * other_share
        pull += push
        bend += curve
        gradient_below[j] += push
        curvature_below[j] += curve
    gradient[row] -= pull
    curvature[row] += bend
    total = 0.0
    if valued:
        exponent, exponents_below = exponents[row], exponents[below]
        for j in range(others.size):
            better = exponent if weights_below[j] > 0.0 else exponents_below[j]
            total += abs(weights_below[j]) * (log(own + others[j]) - (better - origin))
    return total
