r"""A walk over rankings of good and bad documents that changes one pair at a time (the paper's Figure 2).

A ranking is known by the number of bad documents below each good one and of good ones above each bad one: the sets of
bad documents below the good ones contain each other, so a pair's order and whether it may change follow from counts.
``beating_more[v]`` is the number of good documents with more than v bad ones below.

The distance of a ranking of relevant (good) and irrelevant (bad) documents from the ideal one, between 0 and 1.

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

import numpy as np

from rankplug.compiled import building_block, logistic, sort_best_first, uniform

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


SYMMETRIC = 0
"""Position of ``symmetric`` among the words of the parameter ``branch``."""
HALVINGS = 30
FARTHEST = 80.0
"""Beyond the range of the noise: with all good documents raised or lowered by this, a ranking is ideal or worst."""


@building_block
def put_extreme(best, bads_below, goods_above, beating_more):
    """Start the walk at the ideal ranking, or at the worst."""
    goods, bads = bads_below.size, goods_above.size
    for g in range(goods):
        bads_below[g] = bads if best else 0
    for b in range(bads):
        goods_above[b] = goods if best else 0
        beating_more[b] = goods if best else 0
    beating_more[bads] = 0


@building_block
def put_by_scores(scores, good, bads_below, goods_above, beating_more):
    """Start the walk at the ranking by scores; ``good`` marks relevant documents, each class in its order."""
    place_in_class, order = np.empty(scores.size, np.int64), np.empty(scores.size, np.int32)
    goods, bads = 0, 0
    for document in range(scores.size):
        order[document] = document
        place_in_class[document] = goods if good[document] else bads
        goods += good[document]
        bads += not good[document]
    sort_best_first(scores, order)
    for below in range(bads + 1):
        beating_more[below] = 0
    goods_seen, bads_seen = 0, 0
    for position in range(order.size):
        document = order[position]
        if good[document]:
            below = bads - bads_seen
            bads_below[place_in_class[document]] = below
            for fewer in range(below):
                beating_more[fewer] += 1
            goods_seen += 1
        else:
            goods_above[place_in_class[document]] = goods_seen
            bads_seen += 1


@building_block
def put_near(target, key, counter, good, gain, k, discount, bads_below, goods_above, beating_more):
    """Start the walk at a random ranking near a distance from the ideal one; return the counter of its noise.

    Of random scores, the good documents' are raised by one number; the more, the better the ranking.
    """
    noise, scores = np.empty(good.size), np.empty(good.size)
    for document in range(good.size):
        noise[document] = logistic(key, counter)
        counter += 1
    low, high = -FARTHEST, FARTHEST
    for _ in range(HALVINGS):
        raised = 0.5 * (low + high)
        for document in range(good.size):
            scores[document] = noise[document] + (raised if good[document] else 0.0)
        put_by_scores(scores, good, bads_below, goods_above, beating_more)
        if distance(gain, k, discount, bads_below.size, beating_more) > target:
            low = raised
        else:
            high = raised
    return counter


@building_block
def distance(gain, k, discount, goods, beating_more):
    """Return Delta of the ranking."""
    bads = beating_more.size - 1
    with_bads_above = np.empty(bads + 1, np.int64)
    for above in range(bads + 1):
        below = bads - above
        with_bads_above[above] = (goods if below == 0 else beating_more[below - 1]) - beating_more[below]
    return delta(gain, with_bads_above, goods, k, discount)


@building_block
def flip_one_pair(key, counter, smooth, branch, bads_below, goods_above, beating_more):
    """Draw pairs until one is accepted and may be exchanged, and exchange it; return the counter of its noise."""
    goods, bads = bads_below.size, goods_above.size
    while True:
        pair = int(uniform(key, counter) * goods * bads)
        coin = uniform(key, counter + 1)
        counter += 2
        g, b = pair // bads, pair % bads
        below, above = bads_below[g], goods_above[b]
        upright = beating_more[below] < above
        goods_under_bad = goods - above
        tendency = bads - below + goods_under_bad
        if branch == SYMMETRIC and not upright:
            tendency = goods + bads - tendency
        if coin * (goods + bads) >= tendency + smooth:
            continue
        if upright and beating_more[below - 1] == above:
            bads_below[g] -= 1
            goods_above[b] -= 1
            beating_more[below - 1] -= 1
            return counter
        if not upright and beating_more[below] == above:
            bads_below[g] += 1
            goods_above[b] += 1
            beating_more[below] += 1
            return counter
