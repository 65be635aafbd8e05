r"""Precision: the share of relevant documents among the first k (van Rijsbergen, Information Retrieval, 1979).

A list of fewer than k documents is divided by k all the same (TREC, LETOR), or by its length.
"""

from __future__ import annotations

import math

from rankplug.metrics import list_metric
from rankplug_metrics.average_precision import relevant_documents


@list_metric
def precision(ranked, labels, threshold, places):
    """Of one list; undefined where no document is relevant. ``places`` of 0 stands for the documents there are."""
    if relevant_documents(labels, threshold) == 0:
        return math.nan
    return relevant_documents(ranked, threshold) / (places if places > 0 else ranked.size)
