r"""Metrics of all pairs of documents: Kendall's and Spearman's correlation of scores and labels, and the AUC.

With C pairs that scores and labels order alike, D that they order differently, and n_f and n_y pairs that are untied in
the scores and in the labels, :math:`\tau_b = (C - D) / \sqrt{n_f n_y}` (Kendall, Biometrika 1945). Pairs are counted by
merging sorted runs (Knight, JASA 1966), in time ``n log n``. Spearman's coefficient (American Journal of Psychology
1904) is Pearson's correlation of the ranks, where tied documents share the mean of theirs. The AUC (Hanley and McNeil,
Radiology 1982) is the share of pairs of a relevant document g and an irrelevant one b with :math:`f_g > f_b`; a tied
pair counts one half, or as the order of tied documents has it.
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


@list_metric
def auc(scores, labels, order, threshold, ties_count_half):
    """Compute the AUC of one list; undefined if all documents are relevant or none is."""
    wins = 0.0
    relevant_above = 0
    irrelevant_above = 0
    begin = 0
    while begin < order.size:
        end = begin + 1
        while ties_count_half and end < order.size and scores[order[end]] == scores[order[begin]]:
            end += 1
        relevant = 0
        for position in range(begin, end):
            relevant += labels[order[position]] >= threshold
        irrelevant = end - begin - relevant
        wins += irrelevant * (relevant_above + 0.5 * relevant)
        relevant_above += relevant
        irrelevant_above += irrelevant
        begin = end
    if relevant_above == 0 or irrelevant_above == 0:
        return math.nan
    return wins / (relevant_above * irrelevant_above)
