"""RankNet: the logistic loss of every pair of documents with different labels (Burges et al. 2005)."""

from __future__ import annotations

from rankplug.compiled import building_block, scratch, sort_best_first, zeros
from rankplug.losses import list_loss
from rankplug_classics.pairs.logistic_pairs import add_row, start_rows
from rankplug_classics.pairs.ranksvm import levels
from rankplug_classics.pairs.smooth_pairs import FAR, NODES, add_pairs_by_nodes, grid_step

LONGEST_WITH_PAIRS = 1_000
"""Documents of a list of which all pairs are looked at, whatever error is allowed; measured."""
WORTH_NODES = 8.0
"""Pairs that are looked at in the time of a node that meets another; measured, and on the safe side."""


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


@building_block
def _number_of_pairs(level_of, levels):
    """Count the pairs of different levels."""
    counts = zeros(levels)
    for level in level_of:
        counts[int(level)] += 1.0
    pairs, lower = 0.0, 0.0
    for count in counts:
        pairs += count * lower
        lower += count
    return pairs


@list_loss(constants=levels, constants_length=lambda lengths, parameters: lengths)
def ranknet(scores, labels, gradient, curvature, constants, order, valued, sigma, mean, tolerance):
    """Compute the sum over one list's pairs with ``y_i > y_j`` of ``log(1 + exp(-sigma (f_i - f_j)))``."""
    n = scores.size
    ranked = sort_best_first(scores, order)
    slopes, curves = zeros(n), zeros(n)
    by_nodes, step, count = False, 1.0, 0
    if n > LONGEST_WITH_PAIRS and tolerance > 0.0:
        for i in range(n):
            count = max(count, int(constants[i]) + 1)
        step = grid_step(tolerance)
        nodes = sigma * (ranked[0] - ranked[n - 1]) / step + NODES
        meetings = 2.0 * count * nodes * min(nodes, 2.0 * FAR / step)
        by_nodes = nodes < 100.0 * n and WORTH_NODES * meetings < 1.0 * n * n
    if by_nodes:
        exponents = scratch(n)
        for i in range(n):
            exponents[i] = sigma * scores[i]
        value = add_pairs_by_nodes(exponents, constants, count, step, slopes, curves)
        scale = 1.0
        if mean:
            pairs = _number_of_pairs(constants, count)
            scale = 1.0 / pairs if pairs > 0.0 else 1.0
        for i in range(n):
            gradient[i] = scale * sigma * slopes[i]
            curvature[i] = scale * sigma * sigma * curves[i]
        return scale * value
    value, pairs = _pairs_in_rows(ranked, order, labels, sigma, valued, slopes, curves)
    scale = 1.0 / pairs if mean and pairs > 0.0 else 1.0
    for position in range(n):
        gradient[order[position]] = scale * sigma * slopes[position]
        curvature[order[position]] = scale * sigma * sigma * curves[position]
    return scale * value
