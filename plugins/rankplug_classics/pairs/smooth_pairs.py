"""Sums over pairs of a smooth function of the gap, of long lists, without looking at pairs.

Documents are spread over the nodes of a grid of exponents by the weights with which a polynomial through ten nodes
interpolates there. Sums over nodes, of which there are few, are then interpolated back. Nodes lie so close that the
error of a sum is below a share of it that one sets: a polynomial through ten nodes a distance ``h`` apart is off by
``0.006 h^10`` for the sigmoid, whose poles are at ``+-i pi``, and by some times that for its derivative. Beyond
:data:`FAR` the sigmoid is 0 or 1 and its integral 0 or the gap, to double precision, so that what is farther away
counts by its mass and its moment alone.
"""

from __future__ import annotations

import numpy as np

from rankplug.compiled import building_block, exp, log, zeros

NODES = 10
FAR = 40.0
"""Exponent from which on the logistic function has reached its ends."""
ERROR = 0.1
"""Bound of the error over ``h^10``, both interpolations and the derivative included; measured, see the tests."""
WIDEST_STEP, NARROWEST_STEP = 0.5, 0.05


@building_block
def grid_step(tolerance):
    """Return the distance of nodes for a relative error."""
    return min(max((tolerance / ERROR) ** (1.0 / NODES), NARROWEST_STEP), WIDEST_STEP)


@building_block
def interpolate(exponents, lowest, step, first, shares):
    """Fill the first of the ten nodes around each exponent, and the ten weights there."""
    for i in range(exponents.size):
        position = (exponents[i] - lowest) / step
        base = int(position)
        first[i] = base
        at = position - base + (NODES // 2 - 1)
        for node in range(NODES):
            share = 1.0
            for other in range(NODES):
                if other != node:
                    share *= (at - other) / (node - other)
            shares[NODES * i + node] = share


@building_block
def _fill_tables(step, sigmoids, slopes, integrals):
    """Fill the sigmoid of each distance of nodes, its derivative and its integral; the middle is distance 0."""
    middle = sigmoids.size // 2
    for position in range(sigmoids.size):
        gap = (position - middle) * step
        tail = exp(-abs(gap))
        sigmoids[position] = (1.0 if gap >= 0.0 else tail) / (1.0 + tail)
        slopes[position] = tail / ((1.0 + tail) * (1.0 + tail))
        integrals[position] = max(gap, 0.0) + log(1.0 + tail)


@building_block
def _sum_over_nodes(masses, step, direction, tables, sums):
    """Fill three sums at each node: of the tables at ``direction`` times the distance to each node, times its mass."""
    nodes, band = masses.size, tables[0].size // 2
    for node in range(nodes):
        begin, end = max(0, node - band), min(nodes, node + band + 1)
        total, curve, integral = 0.0, 0.0, 0.0
        for other in range(begin, end):
            neighbour = band + direction * (other - node)
            total += masses[other] * tables[0][neighbour]
            curve += masses[other] * tables[1][neighbour]
            integral += masses[other] * tables[2][neighbour]
        sums[0][node], sums[1][node], sums[2][node] = total, curve, integral
    # What is farther away on the side where the sigmoid is 1: its mass, and its distance times its mass.
    mass, moment = 0.0, 0.0
    for turn in range(nodes - band - 1):
        node = nodes - band - 2 - turn if direction > 0 else band + 1 + turn
        other = node + direction * (band + 1)
        moment += mass * step + masses[other] * step * (band + 1)
        mass += masses[other]
        sums[0][node] += mass
        sums[2][node] += moment


@building_block
def add_pairs_by_nodes(exponents, level_of, levels, step, gradient, curvature):
    """Add the logistic losses of all pairs of different levels; return their sum.

    Level by level, a document meets the nodes on which all documents of lower levels lie, then of higher ones.
    """
    n = exponents.size
    lowest, highest = exponents[0], exponents[0]
    for i in range(n):
        lowest, highest = min(lowest, exponents[i]), max(highest, exponents[i])
    nodes = int((highest - lowest) / step) + NODES
    band = min(int(FAR / step) + 1, nodes)
    tables = (zeros(2 * band + 1), zeros(2 * band + 1), zeros(2 * band + 1))
    _fill_tables(step, tables[0], tables[1], tables[2])
    first, shares = np.empty(n, np.int64), zeros(NODES * n)
    interpolate(exponents, lowest, step, first, shares)
    # Documents in the order of their levels.
    starts, members = np.zeros(levels + 1, np.int64), np.empty(n, np.int64)
    for i in range(n):
        starts[int(level_of[i]) + 1] += 1
    for level in range(levels):
        starts[level + 1] += starts[level]
    ends = starts.copy()
    for i in range(n):
        level = int(level_of[i])
        members[ends[level]] = i
        ends[level] += 1
    sums = (zeros(nodes), zeros(nodes), zeros(nodes))
    value = 0.0
    for direction in (1, -1):
        masses = zeros(nodes)
        for turn in range(levels):
            level = turn if direction == 1 else levels - 1 - turn
            if turn > 0:
                _sum_over_nodes(masses, step, direction, tables, sums)
                for member in range(starts[level], starts[level + 1]):
                    i = members[member]
                    total, curve, integral = 0.0, 0.0, 0.0
                    for node in range(NODES):
                        share = shares[NODES * i + node]
                        total += share * sums[0][first[i] + node]
                        curve += share * sums[1][first[i] + node]
                        integral += share * sums[2][first[i] + node]
                    gradient[i] -= direction * total
                    curvature[i] += max(curve, 0.0)
                    value += integral if direction == 1 else 0.0
            for member in range(starts[level], starts[level + 1]):
                i = members[member]
                for node in range(NODES):
                    masses[first[i] + node] += shares[NODES * i + node]
    return value
