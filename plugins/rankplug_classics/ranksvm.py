"""RankSVM: the hinge loss of every pair of documents with different labels (Joachims 2002)."""

from __future__ import annotations

from rankplug.losses import list_loss


@list_loss
def ranksvm(scores, labels, gradient, curvature, margin):
    """Compute the sum over one list's pairs with ``y_i > y_j`` of ``max(0, margin - (f_i - f_j))``.

    The hinge has no curvature; what boosting gets is the number of pairs that a document breaks, so that a step is one
    unit of score where all its pairs agree.
    """
    value = 0.0
    gradient[:] = 0.0
    curvature[:] = 0.0
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
