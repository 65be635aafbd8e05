r"""Spearman's rank correlation of scores and labels (Spearman, American Journal of Psychology 1904).

Pearson's correlation of their ranks, where documents that are tied share the mean of their ranks.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import part
from rankplug.metrics import list_metric


@part(nogil=True, error_model="numpy")
def centred_ranks(values):
    """Return twice the distance of each value's rank from the middle, tied values sharing the mean of their ranks."""
    n = values.size
    order = np.argsort(values)
    ranks = np.empty(n)
    begin = 0
    for end in range(1, n + 1):
        if end == n or values[order[end]] != values[order[begin]]:
            for position in range(begin, end):
                # Whole numbers, whose sums are exact.
                ranks[order[position]] = begin + end - n
            begin = end
    return ranks


@list_metric
def spearman(scores, labels, undefined_for_tied_scores):
    """Compute Spearman's coefficient of one list; undefined if its labels are all equal."""
    by_score, by_label = centred_ranks(scores), centred_ranks(labels)
    together, spread_of_scores, spread_of_labels = 0.0, 0.0, 0.0
    for document in range(scores.size):
        together += by_score[document] * by_label[document]
        spread_of_scores += by_score[document] * by_score[document]
        spread_of_labels += by_label[document] * by_label[document]
    if spread_of_labels == 0.0:
        return math.nan
    if spread_of_scores == 0.0:
        return math.nan if undefined_for_tied_scores else 0.0
    return together / math.sqrt(spread_of_scores) / math.sqrt(spread_of_labels)
