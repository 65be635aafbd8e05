r"""YetiLoss (Lyzhin, Ustimenko, Gulin, Prokhorenkova, Which Tricks are Important for Learning to Rank?, ICML 2023).

The weights are those of the authors' implementation, CatBoost from 1.2.1 on (``YetiRank:mode=NDCG``, ``MAP``, ``MRR``
and ``ERR`` with one neighbour). As in YetiRank, permutations sort scores with logistic noise,
``f_i + log(u_i / (1 - u_i))``, and only neighbours make pairs. A pair at ranks r and r + 1 weighs

* NDCG: :math:`|G_i - G_j|\,(d_r - d_{r+1}) / \mathrm{IDCG}` with :math:`G = 2^y - 1`, :math:`d_r = 1 / \log_2(1 + r)`;
* MAP: :math:`1 / r` for a relevant document beside another;
* MRR: :math:`1 / (r (r + 1))` for such a pair where no relevant document stands before it;
* ERR: :math:`|R_i - R_j| / (r (r + 1))` times the chance that the reader comes so far,
  with :math:`R = (2^y - 1) / 2^{y_{\max}}` and :math:`y_{\max}` that of the list.

For NDCG the release takes the label itself as the gain unless ``type=Exp`` is set; here it is :math:`2^y - 1`.

For NDCG, MRR and ERR that is what the metric changes when the two are exchanged. For MAP it is not: average precision
changes by :math:`(1 + c) / (r (r + 1) n_+)` with c relevant documents before them. The weights of all permutations are
averaged, and held fixed in differentiation. A document is relevant from label 1 on.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import add_logistic_pair, building_block, gain, ideal_dcg, logistic, scratch, sort_best_first
from rankplug.losses import list_loss

NDCG, MAP, MRR = 0, 1, 2
"""Positions among the words of the parameter ``metric``."""


@building_block
def weight_of(metric, position, better, worse, before, unread, ideal, highest):
    """Return the weight of two neighbours with unequal labels.

    Args:
        metric: its position among the words of the parameter.
        position: rank of the first of them, from 0.
        better: the higher label.
        worse: the lower label.
        before: relevant documents above both.
        unread: chance that no document above both satisfies the reader.
        ideal: the list's ideal DCG.
        highest: the list's largest label.
    """
    rank = position + 1.0
    if metric == NDCG:
        return (gain(better) - gain(worse)) * (1.0 / math.log2(rank + 1.0) - 1.0 / math.log2(rank + 2.0)) / ideal
    step = 1.0 / (rank * (rank + 1.0))
    if metric in (MAP, MRR):
        if better < 1.0 or worse >= 1.0:
            return 0.0
        if metric == MAP:
            return 1.0 / rank
        return step if before == 0 else 0.0
    return step * unread * (gain(better) - gain(worse)) / 2.0**highest


@list_loss(cost="documents")
def yetiloss(scores, labels, gradient, curvature, key, permutations, metric):
    """Compute one list's weighted logistic loss of neighbours in noisy orders."""
    n = scores.size
    gradient[:] = 0.0
    curvature[:] = 0.0
    highest = labels.max()
    if highest == labels.min():
        return 0.0
    ideal = ideal_dcg(labels, n)
    perturbed, order, value = scratch(n), np.arange(n).astype(np.int32), 0.0
    for permutation in range(permutations):
        for document in range(n):
            perturbed[document] = scores[document] + logistic(key, permutation * n + document)
        sort_best_first(perturbed, order)
        before, unread = 0, 1.0
        for position in range(n - 1):
            better, worse = order[position], order[position + 1]
            first = labels[better]
            if first < labels[worse]:
                better, worse = worse, better
            if labels[better] > labels[worse]:
                weight = weight_of(metric, position, labels[better], labels[worse], before, unread, ideal, highest)
                weight /= permutations
                value += add_logistic_pair(scores, better, worse, weight, gradient, curvature)
            before += first >= 1.0
            unread *= 1.0 - gain(first) / 2.0**highest
    return value
