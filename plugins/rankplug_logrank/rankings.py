"""The set of rankings a loss sums over, drawn once before training and never dependent on the scores.

Walks start from the best or the worst ranking, or from random ones spread over all distances, and every state is kept.
The ideal ranking always belongs to the set, or the likelihood would have no bound.

>>> found = sample_rankings([1, 0, 1, 0], RankingSet(samples=400, p_best=0.5))
>>> found.inversions.shape  # 2 good and 2 bad documents have 14 rankings that can be told apart
(14, 4)
>>> found.inversions[0], found.deltas[0]
(array([0, 0, 0, 0]), np.float64(0.0))
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.compiled import building_block, mix, uniform, writable
from rankplug.losses import ListLoss, list_constants
from rankplug_logrank.parameters import RankingSet
from rankplug_logrank.walk import distance, flip_one_pair, put_extreme, put_near

TARGETS = 11
"""Distances from 0 to 1 from which skewed walks start."""


class Rankings(NamedTuple):
    """Rankings of one list."""

    inversions: NDArray[np.int64]
    """One row a ranking: the number of bad documents above each good one, minus that of good ones below each bad one.
    With scores f, ``w.(phi(ideal) - phi(y))`` is ``2 inversions @ f``."""
    deltas: NDArray[np.float64]
    """Distance of each ranking from the ideal one."""


def sample_rankings(labels: ArrayLike, parameters: RankingSet, *, seed: int = 0, query: int = 0) -> Rankings:
    """Draw the rankings that a loss with these parameters would draw for a list; labels of 1 or more are good.

    Unless restarts go by distance, the same rankings are drawn for each ``gain``.
    """
    relevance = writable(labels, "labels")
    # The list is drawn in its place among others, which are empty here.
    starts = np.zeros(query + 2, np.int64)
    starts[-1] = relevance.size
    sampled = ListLoss(draw_rankings.function, draw_rankings, _room_for_rankings)
    constants, _ = sampled.prepared_constants(relevance, starts, parameters, seed)
    rows = constants[1:].reshape(-1, relevance.size + 1)[: int(constants[0])]
    return Rankings(rows[:, 1:].astype(np.int64), rows[:, 0])


def _room_for_rankings(lengths, parameters):
    return np.where(lengths > 0, 1 + (parameters.samples + 1) * (lengths + 1), 0)


@list_constants
def draw_rankings(
    constants,
    labels,
    list_key,
    samples,
    walk,
    p_best,
    odds_of_distance,
    only_distance,
    smooth,
    branch,
    distinct,
    gain,
    k,
    discount,
):
    """Draw rankings of one list: their number, and of each its distance and the documents' inversions, signed."""
    good, goods = np.empty(labels.size, np.bool_), 0
    for document in range(labels.size):
        good[document] = labels[document] >= 1.0
        goods += good[document]
    bads = labels.size - goods
    if goods == 0 or bads == 0:
        return
    bads_below, goods_above = np.empty(goods, np.int64), np.empty(bads, np.int64)
    beating_more = np.empty(bads + 1, np.int64)
    digests = np.empty(samples + 1, np.uint64)
    put_extreme(True, bads_below, goods_above, beating_more)
    keep(constants, good, gain, k, discount, distinct, digests, bads_below, goods_above, beating_more)
    counter = 0
    for drawn in range(samples):
        if drawn % (walk + 1) > 0:
            counter = flip_one_pair(list_key, counter, smooth, branch, bads_below, goods_above, beating_more)
        elif math.isnan(odds_of_distance) and math.isnan(only_distance):
            put_extreme(uniform(list_key, counter) < p_best, bads_below, goods_above, beating_more)
            counter += 1
        else:
            target = only_distance
            if math.isnan(target):
                target = skewed_target(uniform(list_key, counter), odds_of_distance)
            counter = put_near(
                target, list_key, counter + 1, good, gain, k, discount, bads_below, goods_above, beating_more
            )
        keep(constants, good, gain, k, discount, distinct, digests, bads_below, goods_above, beating_more)


@building_block
def skewed_target(draw, skew):
    """Draw one of the distances 0, 0.1, ... 1 with probability proportional to ``exp(skew distance)``."""
    highest, total = max(0.0, skew), 0.0
    for step in range(TARGETS):
        total += math.exp(skew * step / (TARGETS - 1.0) - highest)
    passed = 0.0
    for step in range(TARGETS):
        passed += math.exp(skew * step / (TARGETS - 1.0) - highest) / total
        if draw < passed:
            return step / (TARGETS - 1.0)
    return 1.0


@building_block
def keep(constants, good, gain, k, discount, distinct, digests, bads_below, goods_above, beating_more):
    """Append a ranking, unless it is there already and rankings are to be distinct."""
    goods, bads, kept = bads_below.size, goods_above.size, int(constants[0])
    width = good.size + 1
    row = constants[1 + kept * width : 1 + (kept + 1) * width]
    digest, g, b = np.uint64(0), 0, 0
    for document in range(good.size):
        if good[document]:
            row[1 + document] = bads - bads_below[g]
            g += 1
        else:
            row[1 + document] = goods_above[b] - goods
            b += 1
        digest = mix(digest + np.uint64(np.int64(row[1 + document]) + good.size))
    if distinct:
        for other in range(kept):
            if digests[other] == digest and same(constants[2 + other * width : 1 + (other + 1) * width], row[1:]):
                for document in range(good.size):
                    row[1 + document] = 0.0
                return
    row[0] = distance(gain, k, discount, goods, beating_more)
    digests[kept] = digest
    constants[0] = kept + 1.0


@building_block
def same(first, other):
    """Tell whether two rows are equal."""
    differing = 0
    for position in range(first.size):
        differing += first[position] != other[position]
    return differing == 0
