"""LambdaMART's gradient and curvature (Eq. 23): pairs pushed apart by how much their exchange would change NDCG."""

from __future__ import annotations

import math

import numpy as np

from rankplug.lifting import building_block
from rankplug.list_losses import list_constants, list_loss
from rankplug.ranking import fill_dcg_constants, sort_best_first
from rankplug.vector_math import WIDEST, exponentials_from, log
from rankplug_stochastic.lightgbm_arithmetic import lambdarank_in_single_precision

REGULARISER = 0.01
EXACT = 0
"""Position of ``exact`` among the words of the parameter ``arithmetic``."""


@list_constants
def constants(constants, labels, deepest):
    """One over the ideal DCG, gains and discounts of one list."""
    fill_dcg_constants(labels, deepest, constants)


@building_block
def _push_apart(place, scores, exponentials, gains, discounts, norm, gradient, curvature):
    """Adds the pairs of the document at rank ``place`` with all below it; returns the sum of their pushes.

    With ``e = exp(sigma s)`` kept for each document, the sigmoid of a gap needs no exponential of its own.
    """
    score, own, gain, discount = scores[place], exponentials[place], gains[place], discounts[place]
    below = slice(place + 1, scores.size)
    other_scores, others, other_gains, other_discounts = (
        scores[below],
        exponentials[below],
        gains[below],
        discounts[below],
    )
    other_gradient, other_curvature = gradient[below], curvature[below]
    pull, bend, pushes = 0.0, 0.0, 0.0
    for j in range(others.size):
        share = 1.0 / (own + others[j])
        own_share, other_share = own * share, others[j] * share
        change = (gain - other_gains[j]) * (discount - other_discounts[j])
        if norm:
            change /= REGULARISER + (score - other_scores[j])
        push = change * (other_share if change > 0.0 else own_share)
        curve = abs(change) * own_share * other_share
        pull += push
        bend += curve
        pushes += abs(push)
        other_gradient[j] += push
        other_curvature[j] += curve
    gradient[place] -= pull
    curvature[place] += bend
    return pushes


@building_block
def _pair_losses(place, scores, exponentials, gains, discounts, norm, exponents, origin):
    """The sum over the same pairs of ``D_ij log(1 + exp(-sigma (s_i - s_j)))``, where i has the higher label."""
    score, own, gain, discount, exponent = (
        scores[place],
        exponentials[place],
        gains[place],
        discounts[place],
        exponents[place],
    )
    total = 0.0
    for j in range(place + 1, scores.size):
        change = (gain - gains[j]) * (discount - discounts[j])
        if norm:
            change /= REGULARISER + (score - scores[j])
        higher = exponent if change > 0.0 else exponents[j]
        total += abs(change) * (log(own + exponentials[j]) - (higher - origin))
    return total


@list_loss(constants=constants, constants_length=lambda lengths, parameters: 2 * lengths + 1)
def lambdarank(scores, gradient, curvature, constants, order, valued, sigma, norm, deepest, arithmetic):
    """Of one list. The value is that of the pairs' logistic losses with the weights held fixed."""
    n = scores.size
    inverse_ideal, discounts = constants[0], constants[1 + n :]
    if n == 1 or inverse_ideal == 0.0:
        gradient[:] = 0.0
        curvature[:] = 0.0
        return 0.0
    ranked = sort_best_first(scores, order)
    gains, exponents = np.empty(n), np.empty(n)
    for place in range(n):
        gains[place] = constants[1 + order[place]]
        exponents[place] = sigma * ranked[place]
    by_score = norm and ranked[0] != ranked[n - 1]
    origin = 0.5 * (exponents[0] + exponents[n - 1])
    wide = exponents[0] - exponents[n - 1] > WIDEST
    exponentials, lambdas, curves = np.empty(n), np.zeros(n), np.zeros(n)
    exponentials_from(exponents, origin, exponentials)
    value, pushes = 0.0, 0.0
    for place in range(min(n - 1, deepest)):
        if wide:
            origin = exponents[place]
            exponentials_from(exponents[place:], origin, exponentials[place:])
        if arithmetic == EXACT:
            pushes += _push_apart(place, ranked, exponentials, gains, discounts, by_score, lambdas, curves)
        if valued:
            value += _pair_losses(place, ranked, exponentials, gains, discounts, by_score, exponents, origin)
    if arithmetic == EXACT:
        pushes *= 2.0 * sigma * inverse_ideal
        scale = math.log2(1.0 + pushes) / pushes if norm and pushes > 0.0 else 1.0
        for place in range(n):
            gradient[order[place]] = sigma * inverse_ideal * scale * lambdas[place]
            curvature[order[place]] = sigma * sigma * inverse_ideal * scale * curves[place]
    else:
        scale = lambdarank_in_single_precision(
            ranked, order, gains, discounts, inverse_ideal, sigma, norm, deepest, gradient, curvature
        )
    return inverse_ideal * scale * value
