r"""Kendall's rank correlation of scores and labels, :math:`\tau_b` (Kendall, Biometrika 1945).

With C pairs that scores and labels order alike, D that they order differently, and n_f and n_y pairs that are untied in
the scores and in the labels, :math:`\tau_b = (C - D) / \sqrt{n_f n_y}`. Pairs are counted by merging sorted runs
(Knight, JASA 1966), in time ``n log n``.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import part
from rankplug.metrics import list_metric


@part(nogil=True, error_model="numpy")
def untied_pairs(values):
    """Count the pairs of sorted values that differ."""
    untied = 0.0
    begin = 0
    for end in range(1, values.size + 1):
        if end == values.size or values[end] != values[begin]:
            # With all that come after this run of equal values.
            untied += float(end - begin) * float(values.size - end)
            begin = end
    return untied


@part(nogil=True, error_model="numpy")
def falling_pairs(values):
    """Count the pairs of which the first value is larger than the second; the values are left sorted."""
    falling = 0.0
    source, target = values, np.empty_like(values)
    width = 1
    while width < values.size:
        for begin in range(0, values.size, 2 * width):
            middle, end = min(begin + width, values.size), min(begin + 2 * width, values.size)
            left, right = begin, middle
            for position in range(begin, end):
                if left < middle and (right == end or source[left] <= source[right]):
                    target[position] = source[left]
                    left += 1
                else:
                    target[position] = source[right]
                    falling += middle - left
                    right += 1
        source, target = target, source
        width *= 2
    for position in range(values.size):
        values[position] = source[position]
    return falling


@list_metric
def kendall(scores, labels, order, undefined_for_tied_scores):
    """Compute tau-b of one list; undefined if its labels are all equal.

    The order has tied documents by rising label, so that pairs with falling labels are those that both order alike.
    """
    n = scores.size
    ranked, ordered = np.empty(n), np.empty(n)
    for position in range(n):
        ranked[position] = scores[order[position]]
        ordered[position] = labels[order[position]]
    untied_scores = untied_pairs(ranked)
    alike = falling_pairs(ordered)
    untied_labels = untied_pairs(ordered)
    if untied_labels == 0.0:
        return math.nan
    if untied_scores == 0.0:
        return math.nan if undefined_for_tied_scores else 0.0
    # Pairs that are untied in both, from the runs of equal scores.
    untied_in_both = 0.0
    begin = 0
    for position in range(n):
        ordered[position] = labels[order[position]]
    for end in range(1, n + 1):
        if end == n or ranked[end] != ranked[begin]:
            untied_in_both += untied_pairs(ordered[begin:end])
            begin = end
    untied_in_both = untied_labels - untied_in_both
    return (2.0 * alike - untied_in_both) / math.sqrt(untied_scores) / math.sqrt(untied_labels)
