r"""Success, or hit rate: 1 if a relevant document is among the first k, else 0 (Craswell and Hawking, TREC 2004)."""

from __future__ import annotations

import math

from rankplug.metrics import list_metric
from rankplug_metrics.average_precision import relevant_documents


@list_metric
def success(ranked, labels, threshold):
    """Compute the success of one list; undefined if no document is relevant."""
    if relevant_documents(labels, threshold) == 0:
        return math.nan
    return 1.0 if relevant_documents(ranked, threshold) > 0 else 0.0
