"""LambdaMART in LightGBM's own arithmetic, for models that equal its built-in objective bit by bit.

LightGBM 4.x reads the sigmoid from a table of 2^20 bins over ``[-25 / sigma, 25 / sigma]`` and adds up in single
precision, pair after pair. Trees follow the last bit of a gradient, so only the same roundings in the same order give
the same trees. The table's entries are computed as they are needed.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import part

BINS = 1024.0 * 1024.0
WIDTH = 25.0
REGULARISER = float(np.float32(0.01))


@part(nogil=True, error_model="numpy", fastmath=False)
def _tabulated_sigmoid(gap, sigma):
    """Return one over ``1 + exp(sigma gap)``, at the left end of the bin the gap falls into."""
    least = -WIDTH / sigma
    bins_a_unit = BINS / (-least - least)
    if gap <= least:
        step = 0.0
    elif gap >= -least:
        step = BINS - 1.0
    else:
        step = math.floor((gap - least) * bins_a_unit)
    return 1.0 / (1.0 + math.exp((step / bins_a_unit + least) * sigma))


@part(nogil=True, error_model="numpy", fastmath=False)
def lambdarank_in_single_precision(ranked, order, constants, sigma, norm, deepest, gradient, curvature):
    """Fill gradient and curvature of one list, whose scores come by rank; return the normalising factor."""
    n = ranked.size
    inverse_ideal, gains, discounts = constants[0], np.empty(n), constants[1 + n :]
    for position in range(n):
        gains[position] = constants[1 + order[position]]
    lambdas, curves = np.zeros(n, np.float32), np.zeros(n, np.float32)
    by_score = norm and ranked[0] != ranked[n - 1]
    pushes = 0.0
    for i in range(min(n - 1, deepest)):
        for j in range(i + 1, n):
            if gains[i] == gains[j]:
                continue
            high, low = (i, j) if gains[i] > gains[j] else (j, i)
            gap = ranked[high] - ranked[low]
            change = (gains[high] - gains[low]) * abs(discounts[high] - discounts[low]) * inverse_ideal
            if by_score:
                change /= REGULARISER + abs(gap)
            push = _tabulated_sigmoid(gap, sigma)
            curve = np.float32(push * (1.0 - push) * (sigma * sigma * change))
            push *= -sigma * change
            lambdas[low] -= np.float32(push)
            curves[low] += curve
            lambdas[high] += np.float32(push)
            curves[high] += curve
            pushes -= 2.0 * push
    scale = math.log2(1.0 + pushes) / pushes if norm and pushes > 0.0 else 1.0
    for position in range(n):
        gradient[order[position]] = np.float32(lambdas[position] * scale)
        curvature[order[position]] = np.float32(curves[position] * scale)
    return scale
