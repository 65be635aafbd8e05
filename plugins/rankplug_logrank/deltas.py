r"""Distance of a ranking of relevant (good) and irrelevant (bad) documents from the ideal one, between 0 and 1.

With the good documents sorted from the best place, i from 0, the one at i has ``r_i = i +`` (number of bad ones above
it) as 0-based rank, and

====== =======================================================================================
auc     the share of pairs in which the bad document stands above
map     ``1 - mean of (1 + i) / (1 + r_i)``
ndcg    ``1 - sum of D(r_i) / sum of D(i)``, both up to rank k
====== =======================================================================================

``D(r)`` is 1 for the first two ranks and ``1 / log2(1 + r)`` after them (Jarvelin and Kekalainen), or
``1 / log2(2 + r)`` for every rank.
"""

from __future__ import annotations

import math

from rankplug.compiled import building_block

AUC, MAP = 0, 1
"""Positions among the words of the parameter ``gain``."""
JARVELIN_KEKALAINEN = 0
"""Position of ``jk`` among the words of the parameter ``discount``."""


@building_block
def delta(gain, with_bads_above, goods, k, discount):
    """Return the distance of a ranking from the ideal one.

    Args:
        gain: which of the three.
        with_bads_above: of each number of bad documents, how many good ones have so many above them.
        goods: number of good documents.
        k: cut-off of ``ndcg``.
        discount: which discount of ``ndcg``.
    """
    bads = with_bads_above.size - 1
    total, ideal, position = 0.0, 0.0, 0
    for above in range(bads + 1):
        for _ in range(with_bads_above[above]):
            if gain == AUC:
                total += above / (goods * bads)
            elif gain == MAP:
                total += above / (1.0 + position + above) / goods
            else:
                total += _discount(position, k, discount) - _discount(position + above, k, discount)
                ideal += _discount(position, k, discount)
            position += 1
    return total if gain <= MAP else total / ideal


@building_block
def _discount(rank, k, discount):
    if rank >= k:
        return 0.0
    if discount == JARVELIN_KEKALAINEN:
        return 1.0 if rank < 2 else 1.0 / math.log2(1.0 + rank)
    return 1.0 / math.log2(2.0 + rank)
