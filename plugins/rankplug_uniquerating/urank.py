"""uRank: every document against all documents of a lower rating (Eq. 1-2), in time ``n log n``.

The paper's tensors compare all pairs. But the competitors of a document depend only on its rating: with the documents
by descending rating, their log-sum-exp is a running one from the end, and what a document contributes to the gradients
of its competitors is a running sum from the start.

In the windowed likelihood (Eq. 3) a document competes with its lower-rated ones in windows of a few at a time.

The lower-rated documents of a rating stand by descending score, and are cut into consecutive windows of ``u``; the last
may be shorter. The order counts as fixed when the loss is differentiated.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import building_block, exp, gain, log, scratch, sort_best_first, zeros
from rankplug.losses import list_constants, list_loss


@building_block
def next_lower(gains, above):
    """Return the largest of the gains below ``above``; -1 if there is none."""
    lower = -1.0
    for i in range(gains.size):
        if lower < gains[i] < above:
            lower = gains[i]
    return lower


@building_block
def gather_with_gain(gains, order, least, most, found):
    """Put the documents with gains from ``least`` to ``most`` into ``found`` by rank; return how many there are."""
    number = 0
    for position in range(order.size):
        if least <= gains[order[position]] <= most:
            found[number] = order[position]
            number += 1
    return number


@building_block
def windowed_loss(scores, gains, order, window, gradient, curvature):
    """Add up gradient and curvature over all ratings and windows of one list; return loss and number of ratings."""
    n = scores.size
    rated, lower = np.empty(n, np.int32), np.empty(n, np.int32)
    value, ratings, level = 0.0, 1, next_lower(gains, np.inf)
    while True:
        below = next_lower(gains, level)
        if below < 0.0:
            return value, ratings
        members = rated[: gather_with_gain(gains, order, level, level, rated)]
        competitors = lower[: gather_with_gain(gains, order, 0.0, below, lower)]
        for first in range(0, competitors.size, window):
            value += level * _one_window(
                scores, level, members, competitors[first : first + window], gradient, curvature
            )
        ratings += 1
        level = below


@building_block
def _one_window(scores, weight, members, competitors, gradient, curvature):
    """Return the loss of the documents of one rating against one window of competitors, best first."""
    mass = 0.0
    for j in competitors:
        mass += exp(scores[j] - scores[competitors[0]])
    rival = scores[competitors[0]] + log(mass)
    value, push, push_squared = 0.0, 0.0, 0.0
    for d in members:
        joint = max(scores[d], rival) + log(1.0 + exp(-abs(scores[d] - rival)))
        lost = exp(rival - joint)
        value += joint - scores[d]
        gradient[d] -= weight * lost
        curvature[d] += weight * lost * exp(scores[d] - joint)
        push += weight * lost
        push_squared += weight * lost * lost
    for j in competitors:
        share = exp(scores[j] - rival)
        gradient[j] += share * push
        curvature[j] += max(share * (push - share * push_squared), 0.0)
    return value


@list_constants
def constants(constants, labels):
    """Fill the documents of one list by descending label, then the gains, document by document."""
    order = np.empty(labels.size, np.int32)
    for i in range(labels.size):
        order[i] = i
    sort_best_first(labels, order)
    for i in range(labels.size):
        constants[i] = order[i]
        constants[labels.size + i] = gain(labels[i])


@building_block
def _log_sum_exp(scores, start):
    """Return the logarithm of the sum of ``exp(start)`` and all exponentials of the scores."""
    peak = start
    for score in scores:
        peak = max(peak, score)
    mass = exp(start - peak)
    for score in scores:
        mass += exp(score - peak)
    return peak + log(mass)


@building_block
def _against_lower(scores, weight, rival, joint, gradient, curvature):
    """Return the loss of the documents of one rating; ``rival`` is the log-sum-exp of all below them."""
    value = 0.0
    for d in range(scores.size):
        joint[d] = max(scores[d], rival) + log(1.0 + exp(-abs(scores[d] - rival)))
        lost = exp(rival - joint[d])
        value += joint[d] - scores[d]
        gradient[d] = -weight * lost
        curvature[d] = weight * lost * exp(scores[d] - joint[d])
    return weight * value


@building_block
def _from_higher(scores, nearest, push, push_squared, gradient, curvature):
    """Add to the documents of one rating the derivatives of the losses of all above them."""
    for d in range(scores.size):
        share = exp(scores[d] - nearest)
        gradient[d] += share * push
        curvature[d] += max(share * (push - share * push_squared), 0.0)


@building_block
def _add_pushes(joint, weight, nearest):
    """Return the sums of ``exp(nearest - joint)`` and of its square over the documents of one rating."""
    push, push_squared = 0.0, 0.0
    for d in range(joint.size):
        part = exp(nearest - joint[d])
        push += part
        push_squared += part * part
    return weight * push, weight * push_squared


@building_block
def full_loss(scores, gains, gradient, curvature):
    """Compute loss, gradient and curvature of one list in order of descending gain; also count the ratings."""
    n = scores.size
    joint = scratch(n)
    value, ratings, rival, end = 0.0, 0, -math.inf, n
    while end > 0:
        begin = end - 1
        while begin > 0 and gains[begin - 1] == gains[end - 1]:
            begin -= 1
        if end < n:
            value += _against_lower(
                scores[begin:end], gains[begin], rival, joint[begin:end], gradient[begin:end], curvature[begin:end]
            )
        rival = _log_sum_exp(scores[begin:end], rival)
        ratings += 1
        end = begin
    nearest, push, push_squared, begin = math.inf, 0.0, 0.0, 0
    while begin < n:
        end = begin + 1
        while end < n and gains[end] == gains[begin]:
            end += 1
        if begin > 0:
            _from_higher(scores[begin:end], nearest, push, push_squared, gradient[begin:end], curvature[begin:end])
        if end < n:
            nearer = nearest
            for d in range(begin, end):
                nearer = min(nearer, joint[d])
            faded = exp(nearer - nearest)
            more, more_squared = _add_pushes(joint[begin:end], gains[begin], nearer)
            push, push_squared, nearest = push * faded + more, push_squared * faded * faded + more_squared, nearer
        begin = end
    return value, ratings


@list_loss(constants=constants, constants_length=lambda lengths, parameters: 2 * lengths, cost="documents")
def urank(scores, gradient, curvature, constants, order, width):
    """Compute uRank of one list, divided by the number of its ratings less one."""
    n = scores.size
    gradient[:] = 0.0
    curvature[:] = 0.0
    if width < n - 1:
        sort_best_first(scores, order)
        value, ratings = windowed_loss(scores, constants[n:], order, width, gradient, curvature)
        scale = 1.0 / max(ratings - 1, 1)
        for d in range(n):
            gradient[d] *= scale
            curvature[d] *= scale
        return value * scale
    by_rating, gains, slopes, bends = scratch(n), scratch(n), zeros(n), zeros(n)
    for position in range(n):
        by_rating[position] = scores[int(constants[position])]
        gains[position] = constants[n + int(constants[position])]
    value, ratings = full_loss(by_rating, gains, slopes, bends)
    scale = 1.0 / max(ratings - 1, 1)
    for position in range(n):
        gradient[int(constants[position])] = scale * slopes[position]
        curvature[int(constants[position])] = scale * bends[position]
    return value * scale
