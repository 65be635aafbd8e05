r"""The Fenchel-Young loss of the permutahedron: soft ranks of the scores against the ranks of the labels.

The permutahedron :math:`P` is the convex hull of all orders of the ranks :math:`1/n, 2/n, \dots, 1`. The point of it
that is nearest to :math:`f/\epsilon` is a soft version of the scores' ranks,

.. math:: \mu(f) = \arg\max_{\mu\in P} \left(\mu^\top f - \tfrac{\epsilon}{2}\|\mu\|^2\right).

With the labels' ranks :math:`t` (of equal labels, their mean) the loss is the value of that maximum less what
:math:`t` reaches. It is convex, never negative, and zero where the soft ranks are those of the labels; its gradient is
:math:`\mu(f) - t`, and its curvature at most :math:`1/\epsilon`, which is what boosting gets.

Blondel, Martins and Niculae, Learning with Fenchel-Young losses, JMLR 21, 2020. The nearest point is found by isotonic
regression: Blondel, Teboul, Berthet and Djolonga, Fast differentiable sorting and ranking, ICML 2020.
"""

import numpy as np
from rankplug import list_loss
from rankplug.losses import list_constants


@list_constants
def label_ranks(constants, labels):
    """Fill, before training, the rank of each label, from 1/n for the lowest to 1, the mean rank of equal ones."""
    for i in range(labels.size):
        below, equal = (labels < labels[i]).sum(), (labels == labels[i]).sum()
        constants[i] = (below + 0.5 * (equal + 1)) / labels.size


@list_loss(constants=label_ranks, constants_length=lambda lengths, parameters: lengths, cost="documents")
def permutahedron(scores, gradient, curvature, constants, softness):
    """Compute the loss of one list; 0 if all labels are equal."""
    n = scores.size
    if constants.min() == constants.max():
        return 0.0
    order = np.argsort(-scores, kind="mergesort")
    # Isotonic regression by pooling: each block holds the mean of neighbours that would otherwise stand in wrong order.
    heights, sizes, blocks = np.empty(n), np.empty(n, np.int64), 0
    for position in range(n):
        heights[blocks], sizes[blocks] = scores[order[position]] / softness - (n - position) / n, 1
        blocks += 1
        while blocks > 1 and heights[blocks - 2] <= heights[blocks - 1]:
            both = sizes[blocks - 2] + sizes[blocks - 1]
            pooled = heights[blocks - 2] * sizes[blocks - 2] + heights[blocks - 1] * sizes[blocks - 1]
            heights[blocks - 2], sizes[blocks - 2] = pooled / both, both
            blocks -= 1
    value, first, middle = 0.0, 0, scores.mean()
    for block in range(blocks):
        for position in range(first, first + sizes[block]):
            document = order[position]
            soft, wanted = scores[document] / softness - heights[block], constants[document]
            gradient[document], curvature[document] = soft - wanted, 1.0 / softness
            value += (soft - wanted) * (scores[document] - middle) - 0.5 * softness * (soft * soft - wanted * wanted)
        first += sizes[block]
    return value
