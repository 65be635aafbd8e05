"""RankNet: the logistic loss of every pair of documents with different labels (Burges et al. 2005)."""

from __future__ import annotations

from rankplug.compiled import building_block, scratch, sort_best_first, zeros
from rankplug.losses import list_loss
from rankplug_classics.logistic_pairs import add_row, start_rows


@building_block
def _fill_weights(place, labels, weights):
    label, labels_below, weights_below = labels[place], labels[place + 1 :], weights[place + 1 :]
    pairs = 0.0
    for j in range(labels_below.size):
        weight = (1.0 if label > labels_below[j] else 0.0) - (1.0 if label < labels_below[j] else 0.0)
        weights_below[j] = weight
        pairs += abs(weight)
    return pairs


@list_loss
def ranknet(scores, labels, gradient, curvature, order, valued, sigma, mean):
    """Compute the sum over one list's pairs with ``y_i > y_j`` of ``log(1 + exp(-sigma (f_i - f_j)))``."""
    n = scores.size
    ranked = sort_best_first(scores, order)
    exponents, exponentials, weights, ranked_labels = scratch(n), scratch(n), scratch(n), scratch(n)
    slopes, curves = zeros(n), zeros(n)
    for place in range(n):
        exponents[place], ranked_labels[place] = sigma * ranked[place], labels[order[place]]
    origin, wide = start_rows(exponents, exponentials)
    value, pairs = 0.0, 0.0
    for place in range(n - 1):
        pairs += _fill_weights(place, ranked_labels, weights)
        value += add_row(place, exponents, exponentials, origin, wide, weights, valued, slopes, curves)
    scale = 1.0 / pairs if mean and pairs > 0.0 else 1.0
    for place in range(n):
        gradient[order[place]] = scale * sigma * slopes[place]
        curvature[order[place]] = scale * sigma * sigma * curves[place]
    return scale * value
