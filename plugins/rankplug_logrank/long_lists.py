"""Closed forms of long lists, by sums over all pairs in place of a look at each.

A pair of a good and a bad document has ``x = steepness (f_g - f_b)``, which is negative where it is in the wrong order.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import (
    BEND,
    SLOPE,
    SOFTPLUS,
    TAIL,
    building_block,
    different_levels,
    log,
    scratch,
    sort_best_first,
    sum_over_pairs,
    worth_sums,
)
from rankplug.losses import LongLists, list_loss
from rankplug_logrank.closed_forms import gain_of_pairs, steepness_of

LOOKS_A_PAIR = 5.0
"""Time of a pair in a closed form over that in other losses; measured."""
SERIES_ERROR = 1e-12
"""Relative error allowed where a series takes the place of the exponential loss."""
SMALLEST_SUM = 1e-200
"""Below it a sum of sigmoids may have lost digits to the end of the range of doubles."""


@building_block
def sums_of_documents(scores, labels, order, steepness, shift):
    """Return sums over each document's pairs, a row each, and those of ``softplus(-x)`` and ``sigmoid(x)`` over all.

    With the shift taken off ``x``, the rows are those of ``sigmoid(-x)``, of its product with ``sigmoid(x)``, and of
    that product times ``sigmoid(x) - sigmoid(-x)``.
    """
    n = scores.size
    exponents, level_of, sums = scratch(n), np.empty(n, np.int64), np.empty((3, n))
    for document in range(n):
        exponents[document] = steepness * scores[document] - (shift if labels[document] >= 1.0 else 0.0)
    ranked = sort_best_first(exponents, order)
    bads = 0
    for position in range(n):
        level_of[position] = 1 if labels[order[position]] >= 1.0 else 0
        bads += 1 - level_of[position]
    above, bads_above, below, goods_below = sum_over_pairs(
        ranked, level_of, np.ones((1, n)), different_levels(2), BEND + 1
    )
    value, all_right = 0.0, 0.0
    for position in range(n):
        document, up, down = order[position], above[:, 0, position], below[:, 0, position]
        # A good document's pairs are in the right order with those below it, a bad one's with those above.
        good = level_of[position] == 1
        right, wrong = (down, up) if good else (up, down)
        inverted = bads_above[0, position] + goods_below[0, position]
        sums[0, document] = right[TAIL] + inverted - wrong[TAIL]
        sums[1, document] = up[SLOPE] + down[SLOPE]
        sums[2, document] = right[BEND] - wrong[BEND]
        value += up[SOFTPLUS]
        value += (goods_below[0, position] - bads_above[0, position]) * (ranked[position] - ranked[n // 2])
        if good:
            all_right += (bads - bads_above[0, position] - right[TAIL]) + wrong[TAIL]
    return sums, value, all_right


@building_block
def fill(sums, labels, steepness, wrong_share, slope_share, bend_share, gradient, curvature):
    """Fill gradient and curvature from a document's sums: of ``sigmoid(-x)``, of its slope and of its bend."""
    for document in range(labels.size):
        sign = -steepness if labels[document] >= 1.0 else steepness
        gradient[document] = sign * (wrong_share * sums[0, document] + slope_share * sums[1, document])
        curvature[document] = steepness * steepness * (sums[1, document] + bend_share * sums[2, document])


@building_block
def all_wrong(sums, labels):
    """Return the sum of ``sigmoid(-x)`` over all pairs."""
    total = 0.0
    for document in range(labels.size):
        total += sums[0, document] if labels[document] >= 1.0 else 0.0
    return total


@list_loss()
def likelihood(scores, labels, gradient, curvature, order, divide_by_pairs):
    """Compute what ``logrank_mle`` does of one list."""
    steepness, _ = steepness_of(labels, divide_by_pairs)
    sums, value, _ = sums_of_documents(scores, labels, order, steepness, 0.0)
    fill(sums, labels, steepness, 1.0, 0.0, 0.0, gradient, curvature)
    return value


@list_loss()
def l3(scores, labels, gradient, curvature, order, divide_by_pairs):
    """Compute what ``logrank_l3`` does of one list."""
    steepness, share = steepness_of(labels, divide_by_pairs)
    sums, value, _ = sums_of_documents(scores, labels, order, steepness, 0.0)
    fill(sums, labels, steepness, 1.0, share, share, gradient, curvature)
    return value + share * all_wrong(sums, labels)


@list_loss()
def convex(scores, labels, gradient, curvature, order, divide_by_pairs):
    """Compute what ``convex_loss`` does of one list."""
    steepness, share = steepness_of(labels, divide_by_pairs)
    sums, value, _ = sums_of_documents(scores, labels, order, steepness, share)
    fill(sums, labels, steepness, 1.0, 0.0, 0.0, gradient, curvature)
    return value


@list_loss()
def l2(scores, labels, gradient, curvature, order, divide_by_pairs):
    """Compute what ``logrank_l2`` does of one list."""
    steepness, share = steepness_of(labels, divide_by_pairs)
    sums, _, _ = sums_of_documents(scores, labels, order, steepness, 0.0)
    fill(sums, labels, steepness, 0.0, share, 0.0, gradient, curvature)
    return share * all_wrong(sums, labels)


@list_loss()
def gain(scores, labels, gradient, curvature, order, divide_by_pairs):
    """Compute what ``exp_gain`` does of one list."""
    steepness, share = steepness_of(labels, divide_by_pairs)
    sums, _, right = sums_of_documents(scores, labels, order, steepness, 0.0)
    if right < SMALLEST_SUM:
        return gain_of_pairs(scores, labels, steepness, gradient, curvature)
    fill(sums, labels, steepness, 0.0, 1.0 / right, 0.0, gradient, curvature)
    return -log(share) - log(right)


@list_loss()
def exponential(scores, labels, gradient, curvature, order, divide_by_pairs):
    """Compute what ``logrank_exponential`` does of one list.

    With ``p = sigmoid(-x)`` and ``lift = e^share - 1``, which is small where pairs are many, ``log(1 + lift p)`` is
    ``lift p - (lift p)^2 / 2 + (lift p)^3 / 3`` and its slope ``lift p (1 - p) (1 - lift p)``, but for about ``lift^2``
    of them.
    """
    steepness, share = steepness_of(labels, divide_by_pairs)
    sums, _, _ = sums_of_documents(scores, labels, order, steepness, 0.0)
    lift, value = math.expm1(share), 0.0
    for document in range(labels.size):
        p, slope, bend = sums[0, document], sums[1, document], sums[2, document]
        squares, cubes = p - slope, p - 1.5 * slope + 0.5 * bend
        if labels[document] >= 1.0:
            value += lift * p - lift**2 / 2 * squares + lift**3 / 3 * cubes
        sums[0, document] = slope - lift / 2 * (slope - bend)
    fill(sums, labels, steepness, lift, 0.0, 0.0, gradient, curvature)
    return value


def _pairs(labels):
    goods = np.count_nonzero(labels >= 1)
    return goods * (labels.size - goods)


def _worth(labels, parameters):
    pairs = LOOKS_A_PAIR * _pairs(labels)
    return parameters.closed and worth_sums(labels.size, 2, 1, pairs)


def _worth_a_series(labels, parameters):
    return _worth(labels, parameters) and _pairs(labels) ** 2 * SERIES_ERROR >= 1.0


LIKELIHOOD, L3, CONVEX, L2, GAIN = (LongLists(function, _worth) for function in (likelihood, l3, convex, l2, gain))
EXPONENTIAL = LongLists(exponential, _worth_a_series)
