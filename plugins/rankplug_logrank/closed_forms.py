"""Sums over all sign matrices of the good and bad pairs, cyclic ones included, where they factorise.

With ``x_gb = 2 (f_g - f_b)``, m pairs and S the sum of ``sigmoid(x)``:

============== ======================================================
likelihood      ``sum softplus(-x)``
l3              ``sum softplus(-x) + (1/m) sum sigmoid(-x)``
convex          ``sum softplus(1/m - x)``
gain            ``log m - log S``
l2              ``(1/m) sum sigmoid(-x)``
exponential     ``sum log(1 + (e^(1/m) - 1) sigmoid(-x))``
============== ======================================================

The sampled losses sum over rankings only, so the two agree in value only where one class has a single document.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import building_block, exp, log, zeros


@building_block
def by_class(scores, labels):
    """Return the scores of the good documents and of the bad ones, each in their order."""
    good = labels >= 1.0
    return scores[good], scores[~good]


@building_block
def steepness_of(labels, divide_by_pairs):
    """Return the factor on the gaps of scores, and one over the number of pairs; 0 where there is none."""
    goods = 0
    for document in range(labels.size):
        goods += labels[document] >= 1.0
    pairs = goods * (labels.size - goods)
    share = 1.0 / pairs if pairs > 0 else 0.0
    return 2.0 * share if divide_by_pairs else 2.0, share


@building_block
def spread(goods, bads, labels, factor, out):
    """Write a factor times the values of good and of bad documents at the documents' positions."""
    g, b = 0, 0
    for document in range(labels.size):
        if labels[document] >= 1.0:
            out[document] = factor * goods[g]
            g += 1
        else:
            out[document] = factor * bads[b]
            b += 1


@building_block
def logistic_pairs(scores, labels, steepness, shift, sigmoid_share, gradient, curvature):
    """Compute the sum of ``softplus(shift - x) + sigmoid_share sigmoid(-x)`` with ``x = steepness (f_g - f_b)``."""
    goods, bads = by_class(scores, labels)
    good_slopes, good_curves = zeros(goods.size), zeros(goods.size)
    bad_slopes, bad_curves = zeros(bads.size), zeros(bads.size)
    value = 0.0
    for g in range(goods.size):
        slope, curve = 0.0, 0.0
        for b in range(bads.size):
            x = steepness * (goods[g] - bads[b]) - shift
            small = exp(-abs(x))
            share = 1.0 / (1.0 + small)
            right = share if x > 0.0 else small * share
            wrong = small * share if x > 0.0 else share
            value += max(0.0, -x) + log(1.0 + small) + sigmoid_share * wrong
            both = right * wrong
            push = wrong + sigmoid_share * both
            bend = both + sigmoid_share * both * (right - wrong)
            slope -= push
            curve += bend
            bad_slopes[b] += push
            bad_curves[b] += bend
        good_slopes[g], good_curves[g] = slope, curve
    spread(good_slopes, bad_slopes, labels, steepness, gradient)
    spread(good_curves, bad_curves, labels, steepness * steepness, curvature)
    return value


@building_block
def gain_of_pairs(scores, labels, steepness, gradient, curvature):
    """Compute ``log m - log S``; its curvature for boosting is the likelihood's, which is never negative."""
    goods, bads = by_class(scores, labels)
    log_right = np.empty((goods.size, bads.size))
    best = -np.inf
    for g in range(goods.size):
        for b in range(bads.size):
            x = steepness * (goods[g] - bads[b])
            log_right[g, b] = min(0.0, x) - log(1.0 + exp(-abs(x)))
            best = max(best, log_right[g, b])
    total = 0.0
    for g in range(goods.size):
        for b in range(bads.size):
            total += exp(log_right[g, b] - best)
    good_slopes, good_curves = zeros(goods.size), zeros(goods.size)
    bad_slopes, bad_curves = zeros(bads.size), zeros(bads.size)
    for g in range(goods.size):
        for b in range(bads.size):
            x = steepness * (goods[g] - bads[b])
            small = exp(-abs(x))
            wrong = (small if x > 0.0 else 1.0) / (1.0 + small)
            push = exp(log_right[g, b] - best) / total * wrong
            bend = wrong * (1.0 - wrong)
            good_slopes[g] -= push
            good_curves[g] += bend
            bad_slopes[b] += push
            bad_curves[b] += bend
    spread(good_slopes, bad_slopes, labels, steepness, gradient)
    spread(good_curves, bad_curves, labels, steepness * steepness, curvature)
    return log(goods.size * bads.size * 1.0) - best - log(total)


@building_block
def bounded_pairs(scores, labels, steepness, share, exponential, gradient, curvature):
    """Compute the sum over pairs of ``share sigmoid(-x)``, or of ``log(1 + (e^share - 1) sigmoid(-x))``.

    Neither is convex; the curvature for boosting is the likelihood's.
    """
    goods, bads = by_class(scores, labels)
    good_slopes, good_curves = zeros(goods.size), zeros(goods.size)
    bad_slopes, bad_curves = zeros(bads.size), zeros(bads.size)
    lift, value = math.expm1(share), 0.0
    for g in range(goods.size):
        for b in range(bads.size):
            x = steepness * (goods[g] - bads[b])
            small = exp(-abs(x))
            wrong = (small if x > 0.0 else 1.0) / (1.0 + small)
            bend = small / (1.0 + small) ** 2
            if exponential:
                value += math.log1p(lift * wrong)
                push = lift * bend / (1.0 + lift * wrong)
            else:
                value += share * wrong
                push = share * bend
            good_slopes[g] -= push
            good_curves[g] += bend
            bad_slopes[b] += push
            bad_curves[b] += bend
    spread(good_slopes, bad_slopes, labels, steepness, gradient)
    spread(good_curves, bad_curves, labels, steepness * steepness, curvature)
    return value
