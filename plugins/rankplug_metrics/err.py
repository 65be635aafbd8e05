r"""Expected reciprocal rank (Chapelle, Metzler, Zhang and Grinspan, CIKM 2009).

A reader goes down the list and stops at rank r with probability :math:`R_r = (2^{y_r} - 1) / 2^{y_{\max}}`:
:math:`\mathrm{ERR}@k = \sum_{r=1}^{k} \frac{1}{r} R_r \prod_{s<r} (1 - R_s)`, which never decreases with k.
"""

from __future__ import annotations

import math

from rankplug.compiled import gain
from rankplug.metrics import list_metric


@list_metric
def err(ranked, labels, largest_label):
    """Compute the ERR of one list, undefined if no document is relevant.

    A ``largest_label`` below 0 stands for the largest label of the list.
    """
    best = labels.max()
    if best == 0.0:
        return math.nan
    scale = 2.0 ** (best if largest_label < 0 else largest_label)
    total = 0.0
    reads_on = 1.0
    for position in range(ranked.size):
        stops = gain(ranked[position]) / scale
        total += reads_on * stops / (position + 1.0)
        reads_on *= 1.0 - stops
    return total
