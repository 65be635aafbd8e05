r"""Average precision; its mean over queries is MAP (Buckley and Voorhees, SIGIR 2000).

With the relevant documents at ranks :math:`r_1 < \dots < r_m` of which those up to k count,
:math:`\mathrm{AP}@k = \frac{1}{n} \sum_{i : r_i \le k} i / r_i`, where n is the number of relevant documents (TREC) or
of those that fit above the cut-off, :math:`\min(m, k)` (LightGBM, XGBoost).
"""

from __future__ import annotations

import math

from rankplug.compiled import part
from rankplug.metrics import list_metric


@part(nogil=True, error_model="numpy")
def relevant_documents(labels, threshold):
    """Count the labels that are at least the threshold."""
    relevant = 0
    for label in labels:
        relevant += label >= threshold
    return relevant


@list_metric
def average_precision(ranked, labels, threshold, divides_by_reachable):
    """Compute the average precision of one list; undefined if no document is relevant."""
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
