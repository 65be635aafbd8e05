r"""Reciprocal rank of the first relevant document (Voorhees, TREC-8 1999); 0 if it lies below the cut-off."""

from __future__ import annotations

import math

from rankplug.metrics import list_metric
from rankplug_metrics.average_precision import relevant_documents


@list_metric
def reciprocal_rank(ranked, labels, threshold):
    """Compute the reciprocal rank of one list; undefined if no document is relevant."""
    for position in range(ranked.size):
        if ranked[position] >= threshold:
            return 1.0 / (position + 1.0)
    return 0.0 if relevant_documents(labels, threshold) else math.nan
