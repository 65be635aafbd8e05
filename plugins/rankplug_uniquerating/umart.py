"""uMart (Eq. 5-6): uRank's windowed likelihood with each pair weighted by its exchange's change of NDCG.

With a window of one document this is LambdaMART. The equations are used as the authors' code has them: Eq. 5 prints the
negative gradient, and Eq. 6 as printed can be negative.
"""

from __future__ import annotations

import numpy as np

from rankplug.compiled import (
    WIDEST,
    building_block,
    exp,
    exponentials_from,
    fill_dcg_constants,
    log,
    scratch,
    sort_best_first,
    zeros,
)
from rankplug.losses import list_constants, list_loss
from rankplug_uniquerating.urank import gather_with_gain, next_lower

REGULARISER = 0.01
RELEASED = 0
"""Position of ``released`` among the words of the parameter ``hessian``."""
SCORE, GAIN, DISCOUNT, EXPONENT = 0, 1, 2, 3
"""Rows of a table of documents."""
TINY = 1e-300


@list_constants
def constants(constants, labels, deepest):
    """Fill one over the ideal DCG, gains and discounts of one list."""
    fill_dcg_constants(labels, deepest, constants)


@building_block
def _fill_exponentials(exponents, origin, window, exponentials, sums):
    """Fill the exponentials of the competitors, and for each the sum over its window."""
    exponentials_from(exponents, origin, exponentials)
    for first in range(0, exponentials.size, window):
        last = min(first + window, exponentials.size)
        total = 0.0
        for j in range(first, last):
            total += exponentials[j]
        for j in range(first, last):
            sums[j] = total


@building_block
def _push_apart(own, document, competitors, span, exponentials, sums, by_score, gradient, curvature):
    """Add to a span of a document's competitors; return what is to be added to its own gradient and curvature."""
    score, gain, discount = document[SCORE], document[GAIN], document[DISCOUNT]
    scores, gains, discounts = competitors[SCORE][span], competitors[GAIN][span], competitors[DISCOUNT][span]
    pull, bend = 0.0, 0.0
    for j in range(exponentials.size):
        share = 1.0 / (own + sums[j])
        weight = (gain - gains[j]) * abs(discount - discounts[j])
        if by_score:
            weight /= REGULARISER + abs(score - scores[j])
        push = weight * (exponentials[j] * share)
        pull += push
        bend += push * (own * share)
        gradient[j] += push
        curvature[j] += push * ((own + (sums[j] - exponentials[j])) * share)
    return pull, bend


@building_block
def _pair_losses(own, document, competitors, span, exponentials, sums, by_score):
    """Return the sum over the same pairs of ``dZ log(1 / (1 - p))``, which with a window of one is LambdaMART's."""
    scores, gains, discounts = competitors[SCORE][span], competitors[GAIN][span], competitors[DISCOUNT][span]
    total = 0.0
    for j in range(exponentials.size):
        weight = (document[GAIN] - gains[j]) * abs(document[DISCOUNT] - discounts[j])
        if by_score:
            weight /= REGULARISER + abs(document[SCORE] - scores[j])
        total += weight * (log(own + sums[j]) - log(max(own + (sums[j] - exponentials[j]), TINY)))
    return total


@building_block
def _add_rating(by_rank, rated, rivals, window, by_score, valued, lambdas, curves):
    """Add the pairs of the documents of one rating with all of lower rating; all are given by their ranks."""
    number = rivals.size
    competitors, exponentials, sums = np.empty((4, number)), scratch(number), scratch(number)
    pushes, bends = zeros(number), zeros(number)
    for row in range(4):
        for j in range(number):
            competitors[row, j] = by_rank[row, rivals[j]]
    best, worst = by_rank[EXPONENT, 0], by_rank[EXPONENT, by_rank.shape[1] - 1]
    origin, wide = 0.5 * (best + worst), best - worst > WIDEST
    _fill_exponentials(competitors[EXPONENT], origin, window, exponentials, sums)
    value = 0.0
    for d in rated:
        document = by_rank[:, d]
        # One origin serves all windows, unless exponents spread too wide: then each has that of its best document.
        for first in range(0, number, window if wide else number):
            span = slice(first, min(first + window, number) if wide else number)
            shown, shown_sums = exponentials[span], sums[span]
            if wide:
                origin = max(document[EXPONENT], competitors[EXPONENT, first])
                _fill_exponentials(competitors[EXPONENT][span], origin, window, shown, shown_sums)
            own = exp(document[EXPONENT] - origin)
            pull, bend = _push_apart(
                own, document, competitors, span, shown, shown_sums, by_score, pushes[span], bends[span]
            )
            lambdas[d] -= pull
            curves[d] += bend
            if valued:
                value += _pair_losses(own, document, competitors, span, shown, shown_sums, by_score)
    for j in range(number):
        lambdas[rivals[j]] += pushes[j]
        curves[rivals[j]] += bends[j]
    return value


@list_loss(constants=constants, constants_length=lambda lengths, parameters: 2 * lengths + 1)
def umart(scores, gradient, curvature, constants, order, valued, width, sigma, hessian, normalise):
    """Compute uMart of one list; the value serves to watch training, as the gradient is not that of one function."""
    n = scores.size
    inverse_ideal = constants[0]
    if n == 1 or inverse_ideal == 0.0:
        gradient[:] = 0.0
        curvature[:] = 0.0
        return 0.0
    ranked = sort_best_first(scores, order)
    by_rank, window = np.empty((4, n)), min(width, n)
    ranks, rated, rivals = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for position in range(n):
        ranks[position] = position
        by_rank[SCORE, position] = ranked[position]
        by_rank[GAIN, position] = constants[1 + order[position]]
        by_rank[DISCOUNT, position] = constants[1 + n + position]
        by_rank[EXPONENT, position] = sigma * ranked[position]
    by_score = normalise and ranked[0] != ranked[n - 1]
    lambdas, curves, value = zeros(n), zeros(n), 0.0
    level = next_lower(by_rank[GAIN], np.inf)
    below = next_lower(by_rank[GAIN], level)
    while below >= 0.0:
        higher = rated[: gather_with_gain(by_rank[GAIN], ranks, level, level, rated)]
        lower = rivals[: gather_with_gain(by_rank[GAIN], ranks, 0.0, below, rivals)]
        value += _add_rating(by_rank, higher, lower, window, by_score, valued, lambdas, curves)
        level, below = below, next_lower(by_rank[GAIN], below)
    scale = sigma * inverse_ideal
    curve_scale = scale * sigma * (sigma if hessian == RELEASED else 1.0)
    for position in range(n):
        gradient[order[position]] = scale * lambdas[position]
        curvature[order[position]] = curve_scale * curves[position]
    return inverse_ideal * value
