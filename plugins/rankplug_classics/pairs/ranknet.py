"""RankNet: the logistic loss of every pair of documents with different labels (Burges et al. 2005)."""

from __future__ import annotations

import numpy as np

from rankplug.compiled import (
    SLOPE,
    SOFTPLUS,
    TAIL,
    building_block,
    different_levels,
    scratch,
    sort_best_first,
    sum_over_pairs,
    worth_sums,
    zeros,
)
from rankplug.losses import LongLists, list_loss
from rankplug_classics.pairs.logistic_pairs import add_row, start_rows
from rankplug_classics.pairs.ranksvm import levels


@building_block
def _fill_weights(position, labels, weights):
    label, labels_below, weights_below = labels[position], labels[position + 1 :], weights[position + 1 :]
    pairs = 0.0
    for j in range(labels_below.size):
        weight = (1.0 if label > labels_below[j] else 0.0) - (1.0 if label < labels_below[j] else 0.0)
        weights_below[j] = weight
        pairs += abs(weight)
    return pairs


@building_block
def _pairs_in_rows(ranked, order, labels, sigma, valued, slopes, curves):
    """Add up all pairs, a row at a time, in rank order; return their loss and number."""
    n = ranked.size
    exponents, exponentials, weights, ranked_labels = scratch(n), scratch(n), scratch(n), scratch(n)
    for position in range(n):
        exponents[position], ranked_labels[position] = sigma * ranked[position], labels[order[position]]
    origin, wide = start_rows(exponents, exponentials)
    value, pairs = 0.0, 0.0
    for position in range(n - 1):
        pairs += _fill_weights(position, ranked_labels, weights)
        value += add_row(position, exponents, exponentials, origin, wide, weights, valued, slopes, curves)
    return value, pairs


@list_loss()
def ranknet_of_long_lists(scores, labels, gradient, curvature, constants, order, valued, sigma, mean):
    """Compute what ``ranknet`` does of one list, by sums over all pairs in place of a look at each."""
    n = scores.size
    ranked = sort_best_first(scores, order)
    exponents, level_of, levels = scratch(n), np.empty(n, np.int64), 0
    for position in range(n):
        exponents[position], level_of[position] = sigma * ranked[position], int(constants[order[position]])
        levels = max(levels, level_of[position] + 1)
    above, lower_above, below, higher_below = sum_over_pairs(
        exponents, level_of, np.ones((1, n)), different_levels(levels), (SOFTPLUS if valued else SLOPE) + 1
    )
    scale = 1.0
    if mean and levels > 1:
        counts = zeros(levels)
        for level in level_of:
            counts[level] += 1.0
        scale = 2.0 / (n * n - (counts * counts).sum())
    value = 0.0
    for position in range(n):
        # A pair in the wrong order adds 1 less what it would add in the right one.
        wrong = higher_below[0, position] - lower_above[0, position]
        push = above[TAIL, 0, position] - below[TAIL, 0, position] + wrong
        gradient[order[position]] = scale * sigma * push
        curvature[order[position]] = scale * sigma * sigma * (above[SLOPE, 0, position] + below[SLOPE, 0, position])
        if valued:
            value += above[SOFTPLUS, 0, position] + wrong * (exponents[position] - exponents[n // 2])
    return scale * value


def _worth_sums(labels, parameters):
    n = labels.size
    return worth_sums(n, np.unique(labels).size, 1, 0.5 * n * n)


@list_loss(
    constants=levels,
    constants_length=lambda lengths, parameters: lengths,
    long_lists=LongLists(ranknet_of_long_lists, _worth_sums),
)
def ranknet(scores, labels, gradient, curvature, order, valued, sigma, mean):
    """Compute the sum over one list's pairs with ``y_i > y_j`` of ``log(1 + exp(-sigma (f_i - f_j)))``."""
    n = scores.size
    ranked = sort_best_first(scores, order)
    slopes, curves = zeros(n), zeros(n)
    value, pairs = _pairs_in_rows(ranked, order, labels, sigma, valued, slopes, curves)
    scale = 1.0 / pairs if mean and pairs > 0.0 else 1.0
    for position in range(n):
        gradient[order[position]] = scale * sigma * slopes[position]
        curvature[order[position]] = scale * sigma * sigma * curves[position]
    return scale * value
