r"""Recall: the share of the relevant documents that are among the first k (van Rijsbergen, 1979)."""

from __future__ import annotations

import math

from rankplug.metrics import list_metric
from rankplug_metrics.average_precision import relevant_documents


@list_metric
def recall(ranked, labels, threshold):
    """Compute the recall of one list; undefined if no document is relevant."""
    relevant = relevant_documents(labels, threshold)
    if relevant == 0:
        return math.nan
    return relevant_documents(ranked, threshold) / relevant
