r"""Metrics of the labels in the order of their scores, as far as a cut-off k.

The specifications in :mod:`rankplug_metrics.plugin` have their formulas and papers. With labels :math:`y_{(r)}` by rank
r,
:math:`\mathrm{DCG}@k = \sum_{r=1}^{\min(k, n)} G(y_{(r)}) D(r)`. The gain is :math:`2^y - 1` (Burges et al., ICML 2005)
or the label itself (Jarvelin and Kekalainen, TOIS 2002). The discount is :math:`1 / \log_2(1 + r)`, or that of Jarvelin
and Kekalainen with base 2, which the LETOR 3.0 tool uses: 1 for the first two ranks, then :math:`1 / \log_2 r`.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import gain as exponential_gain
from rankplug.compiled import part
from rankplug.metrics import list_metric

EXPONENTIAL = 0
LOG2 = 0
TABLED_RANKS = 4096
DISCOUNTS = 1.0 / np.log2(np.arange(2.0, TABLED_RANKS + 2.0))


@part(nogil=True, error_model="numpy")
def cumulative_gain(labels, gain, discount):
    """Return the sum of the gains of labels in the given order, each times the discount of its rank."""
    total = 0.0
    tabled = min(labels.size, TABLED_RANKS)
    for position in range(tabled):
        worth = exponential_gain(labels[position]) if gain == EXPONENTIAL else labels[position]
        total += worth * (DISCOUNTS[position] if discount == LOG2 else DISCOUNTS[max(position - 1, 0)])
    for position in range(tabled, labels.size):
        worth = exponential_gain(labels[position]) if gain == EXPONENTIAL else labels[position]
        total += worth / math.log2(position + 2.0 if discount == LOG2 else position + 1.0)
    return total


@list_metric
def dcg(ranked, labels, gain, discount):
    """Compute the DCG of one list; undefined if no document is relevant."""
    if labels.max() == 0.0:
        return math.nan
    return cumulative_gain(ranked, gain, discount)


@list_metric
def ndcg(ranked, ideal, gain, discount):
    """Compute the NDCG of one list, with the best ordering cut off at the same k; undefined if none is relevant."""
    best = cumulative_gain(ideal, gain, discount)
    if best == 0.0:
        return math.nan
    return cumulative_gain(ranked, gain, discount) / best


@list_metric
def err(ranked, labels, largest_label):
    """Compute the expected reciprocal rank of one list, undefined if no document is relevant.

    A reader goes down the list and stops at rank r with the chance ``(2^y - 1) / 2^largest_label``. A
    ``largest_label`` below 0 stands for the largest label of the list.
    """
    best = labels.max()
    if best == 0.0:
        return math.nan
    scale = 2.0 ** (best if largest_label < 0 else largest_label)
    total = 0.0
    reads_on = 1.0
    for position in range(ranked.size):
        stops = exponential_gain(ranked[position]) / scale
        total += reads_on * stops / (position + 1.0)
        reads_on *= 1.0 - stops
    return total


@part(nogil=True, error_model="numpy")
def relevant_documents(labels, threshold):
    """Count the labels that are at least the threshold."""
    relevant = 0
    for label in labels:
        relevant += label >= threshold
    return relevant


@list_metric
def average_precision(ranked, labels, threshold, divides_by_reachable):
    """Compute the average precision of one list; undefined if no document is relevant.

    The divisor is the number of relevant documents (TREC), or of those that fit above the cut-off (LightGBM, XGBoost).
    """
    relevant = relevant_documents(labels, threshold)
    if relevant == 0:
        return math.nan
    found = 0
    total = 0.0
    for position in range(ranked.size):
        if ranked[position] >= threshold:
            found += 1
            total += found / (position + 1.0)
    return total / (min(relevant, ranked.size) if divides_by_reachable else relevant)


@list_metric
def reciprocal_rank(ranked, labels, threshold):
    """Compute the reciprocal rank of one list; undefined if no document is relevant."""
    for position in range(ranked.size):
        if ranked[position] >= threshold:
            return 1.0 / (position + 1.0)
    return 0.0 if relevant_documents(labels, threshold) else math.nan


@list_metric
def precision(ranked, labels, threshold, places):
    """Compute the precision of one list, undefined if no document is relevant; 0 ``places`` means its whole length.

    A list of fewer than ``places`` documents is divided by ``places`` all the same (TREC, LETOR).
    """
    if relevant_documents(labels, threshold) == 0:
        return math.nan
    return relevant_documents(ranked, threshold) / (places if places > 0 else ranked.size)


@list_metric
def recall(ranked, labels, threshold):
    """Compute the recall of one list; undefined if no document is relevant."""
    relevant = relevant_documents(labels, threshold)
    if relevant == 0:
        return math.nan
    return relevant_documents(ranked, threshold) / relevant


@list_metric
def success(ranked, labels, threshold):
    """Compute the success of one list; undefined if no document is relevant."""
    if relevant_documents(labels, threshold) == 0:
        return math.nan
    return 1.0 if relevant_documents(ranked, threshold) > 0 else 0.0


@list_metric
def rank_biased_precision(ranked, labels, threshold, p):
    """Compute the rank-biased precision of one list; undefined if no document is relevant."""
    if relevant_documents(labels, threshold) == 0:
        return math.nan
    total, reads = 0.0, 1.0 - p
    for position in range(ranked.size):
        if ranked[position] >= threshold:
            total += reads
        reads *= p
    return total
