r"""Normalised discounted cumulative gain (Jarvelin and Kekalainen, TOIS 2002).

:math:`\mathrm{NDCG}@k = \mathrm{DCG}@k / \max \mathrm{DCG}@k`, with the best ordering cut off at the same k.
"""

from __future__ import annotations

import math

from rankplug.metrics import list_metric
from rankplug_metrics.dcg import cumulative_gain


@list_metric
def ndcg(ranked, ideal, gain, discount):
    """Compute the NDCG of one list; undefined if no document is relevant."""
    best = cumulative_gain(ideal, gain, discount)
    if best == 0.0:
        return math.nan
    return cumulative_gain(ranked, gain, discount) / best
