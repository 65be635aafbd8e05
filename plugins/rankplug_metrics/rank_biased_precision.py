r"""Rank-biased precision (Moffat and Zobel, TOIS 2008).

A reader goes on from each rank to the next with probability p:
:math:`\mathrm{RBP} = (1 - p) \sum_r p^{r-1} [y_{(r)} \ge \theta]`.
"""

from __future__ import annotations

import math

from rankplug.metrics import list_metric
from rankplug_metrics.average_precision import relevant_documents


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
