r"""SVM-MAP (Yue, Finley, Radlinski, Joachims 2007): the structured hinge on average precision.

:math:`\max_y\ \Delta_{MAP}(y) - \frac{1}{n_+ n_-}\sum_{g,b} (1 - y_{gb})(f_g - f_b)` over rankings ``y``, where
``y_gb`` is 1 if the relevant document g stands above b and -1 otherwise. Labels of 1 or more are relevant.
"""

from __future__ import annotations

import numpy as np

from rankplug.compiled import building_block, sort_best_first
from rankplug.losses import list_loss


@building_block
def most_violated(good, bad, bads_above, goods_below):
    """Find the ranking that attains the maximum, as counts of inversions for each document.

    Args:
        good: scores of the relevant documents, best first.
        bad: scores of the others, best first.
        bads_above: to fill, how many irrelevant documents stand above each relevant one.
        goods_below: to fill, how many relevant documents stand below each irrelevant one.

    Inside each class, documents stand by score. Each irrelevant document is then put before the relevant one that gains
    most, independently of the others.
    """
    pairs = good.size * bad.size
    bads_above[:] = 0
    for b in range(bad.size):
        best, gained, first = 0.0, 0.0, good.size
        for g in range(good.size - 1, -1, -1):
            precision_lost = (b + 1) / (b + g + 2) - b / (b + g + 1)
            gained += precision_lost / good.size - 2.0 * (good[g] - bad[b]) / pairs
            if gained > best:
                best, first = gained, g
        goods_below[b] = good.size - first
        for g in range(first, good.size):
            bads_above[g] += 1


@list_loss
def svm_map(scores, labels, gradient, curvature, order):
    """Compute the loss of one list; its curvature for boosting is the weight of a document's inversions."""
    gradient[:] = 0.0
    curvature[:] = 0.0
    sort_best_first(scores, order)
    relevant = labels[order] >= 1.0
    goods, bads = order[relevant], order[~relevant]
    if goods.size == 0 or bads.size == 0:
        return 0.0
    bads_above, goods_below = np.empty(goods.size, np.int64), np.empty(bads.size, np.int64)
    most_violated(scores[goods], scores[bads], bads_above, goods_below)
    weight = 2.0 / (goods.size * bads.size)
    value = 0.0
    for g in range(goods.size):
        inversions = weight * bads_above[g]
        value += (1.0 - (g + 1) / (g + 1 + bads_above[g])) / goods.size - inversions * scores[goods[g]]
        gradient[goods[g]] = -inversions
        curvature[goods[g]] = inversions
    for b in range(bads.size):
        inversions = weight * goods_below[b]
        value += inversions * scores[bads[b]]
        gradient[bads[b]] = inversions
        curvature[bads[b]] = inversions
    return value
