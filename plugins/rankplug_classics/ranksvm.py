"""RankSVM: the hinge loss of every pair of documents with different labels (Joachims 2002), or the square of the hinge.

Of short lists all pairs are looked at. Of long ones none is: a document breaks with those of lower labels whose scores
are above its own less the margin, and with documents in the order of their scores these are a range that only grows,
so that their number and sums by label are kept in trees (Joachims 2006, for any number of labels).
"""

from __future__ import annotations

import numpy as np

from rankplug.compiled import building_block, order_labels, scratch, sort_best_first, zeros
from rankplug.losses import list_constants, list_loss

LONGEST_WITH_PAIRS = 256
"""Documents of a list of which all pairs are looked at, in vector registers; measured."""


@list_constants
def levels(constants, labels):
    """Fill for each document the number of different labels in its list that are lower than its own."""
    order = np.empty(labels.size, np.int32)
    order_labels(labels, order)
    level = 0
    for position in range(labels.size - 1, -1, -1):
        document = order[position]
        if position + 1 < labels.size and labels[document] > labels[order[position + 1]]:
            level += 1
        constants[document] = level


@list_loss(constants=levels, constants_length=lambda lengths, parameters: lengths)
def ranksvm(scores, labels, gradient, curvature, constants, order, margin, squared):
    """Compute the sum over one list's pairs with ``y_i > y_j`` of ``max(0, margin - (f_i - f_j))``, or of its square.

    The hinge has no curvature; what boosting gets is the number of pairs that a document breaks, so that a step is one
    unit of score where all its pairs agree. The square of the hinge has twice that.
    """
    gradient[:] = 0.0
    curvature[:] = 0.0
    if scores.size > LONGEST_WITH_PAIRS:
        return _by_order(scores, constants, order, margin, squared, gradient, curvature)
    if squared:
        return _squares_of_pairs(scores, labels, margin, gradient, curvature)
    return _pairs(scores, labels, margin, gradient, curvature)


@building_block
def _pairs(scores, labels, margin, gradient, curvature):
    """Add up the hinges of all pairs."""
    value = 0.0
    for i in range(scores.size):
        score, label, broken = scores[i], labels[i], 0.0
        for j in range(scores.size):
            gap = margin - score + scores[j]
            active = 1.0 if (label > labels[j] and gap > 0.0) else 0.0
            value += active * gap
            broken += active
            gradient[j] += active
            curvature[j] += active
        gradient[i] -= broken
        curvature[i] += broken
    return value


@building_block
def _squares_of_pairs(scores, labels, margin, gradient, curvature):
    """Add up the squared hinges of all pairs."""
    value = 0.0
    for i in range(scores.size):
        score, label, broken, pull = scores[i], labels[i], 0.0, 0.0
        for j in range(scores.size):
            gap = margin - score + scores[j]
            active = 1.0 if (label > labels[j] and gap > 0.0) else 0.0
            gap *= active
            value += gap * gap
            broken += active
            pull += gap
            gradient[j] += 2.0 * gap
            curvature[j] += 2.0 * active
        gradient[i] -= 2.0 * pull
        curvature[i] += 2.0 * broken
    return value


@building_block
def _add(tree, level, amount):
    """Add an amount at a level of a Fenwick tree."""
    node = level + 1
    while node < tree.size:
        tree[node] += amount
        node += node & -node


@building_block
def _sum_below(tree, level):
    """Add up what a Fenwick tree has below a level."""
    total = 0.0
    node = level
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total


@building_block
def _by_order(scores, level_of, order, margin, squared, gradient, curvature):
    """Compute the same from the order of the scores, in time ``n log n``.

    A gap that is rounded is positive exactly where ``f_j > f_i - margin`` with the right side rounded, so that the same
    pairs are active as in the plain sum. Scores are counted from their median, which keeps the sums short.
    """
    n = scores.size
    ranked = sort_best_first(scores, order)
    centre = ranked[n // 2]
    # In the order of the scores, so that memory is read from one end to the other.
    levels, highest = np.empty(n, np.int32), 0
    for position in range(n):
        levels[position] = int(level_of[order[position]])
        highest = max(highest, levels[position])
    counts, sums, squares = zeros(highest + 2), zeros(highest + 2), zeros(highest + 2)
    slopes, broken_pairs = scratch(n), scratch(n)
    value = 0.0
    reached = 0
    # The better one of each pair, from the highest score down: those it breaks with become more.
    for position in range(n):
        reach = ranked[position] - margin
        while reached < n and ranked[reached] > reach:
            _add(counts, levels[reached], 1.0)
            if squared:
                other = ranked[reached] - centre
                _add(sums, levels[reached], other)
                _add(squares, levels[reached], other * other)
            reached += 1
        level = levels[position]
        broken = _sum_below(counts, level)
        ahead = margin - (ranked[position] - centre)
        broken_pairs[position] = broken
        if squared:
            pull = _sum_below(sums, level)
            slopes[position] = -2.0 * (broken * ahead + pull)
            value += max(0.0, (broken * ahead + 2.0 * pull) * ahead + _sum_below(squares, level))
        else:
            slopes[position] = -broken
            value += broken * ahead
    counts[:] = 0.0
    sums[:] = 0.0
    reached = n - 1
    # The worse one of each pair, from the lowest score up; levels are counted from the highest.
    for position in range(n - 1, -1, -1):
        while reached >= 0 and ranked[reached] - margin < ranked[position]:
            level = highest - levels[reached]
            _add(counts, level, 1.0)
            if squared:
                _add(sums, level, ranked[reached] - centre)
            reached -= 1
        level = highest - levels[position]
        broken = _sum_below(counts, level)
        behind = ranked[position] - centre
        broken_pairs[position] += broken
        if squared:
            slopes[position] += 2.0 * (broken * (margin + behind) - _sum_below(sums, level))
        else:
            slopes[position] += broken
            value += broken * behind
    for position in range(n):
        gradient[order[position]] = slopes[position]
        curvature[order[position]] = (2.0 if squared else 1.0) * broken_pairs[position]
    return value
