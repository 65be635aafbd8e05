r"""Discounted cumulative gain: :math:`\mathrm{DCG}@k = \sum_{r=1}^{\min(k, n)} G(y_{(r)}) D(r)`.

The gain is :math:`2^y - 1` (Burges et al., ICML 2005) or the label itself (Jarvelin and Kekalainen, TOIS 2002). The
discount is :math:`1 / \log_2(1 + r)`, or that of Jarvelin and Kekalainen with base 2, which the LETOR 3.0 tool uses: 1
for the first two ranks, then :math:`1 / \log_2 r`.
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
