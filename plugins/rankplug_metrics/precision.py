r"""Precision: the share of relevant documents among the first k (van Rijsbergen, Information Retrieval, 1979).

A list of fewer than k documents is divided by k all the same (TREC, LETOR), or by its length.
"""

from __future__ import annotations

import math

from rankplug.metrics import list_metric
from rankplug_metrics.average_precision import relevant_documents


@list_metric
def precision(ranked, labels, threshold, places):
    """Compute the precision of one list, undefined if no document is relevant; 0 ``places`` means its whole length."""
    if relevant_documents(labels, threshold) == 0:
        return math.nan
    return relevant_documents(ranked, threshold) / (places if places > 0 else ranked.size)
