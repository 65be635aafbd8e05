"""ListNet's top-one cross entropy (Eq. 2-3): softmax of the labels against softmax of the scores."""

from __future__ import annotations

from rankplug.compiled import exp, largest, scratch
from rankplug.losses import list_loss
from rankplug_xendcg.newton_step import cross_entropy_with_step


@list_loss(cost="documents")
def listnet(scores, labels, gradient, curvature, newton, eps, step):
    """Compute ListNet of one list."""
    n = scores.size
    highest = largest(labels)
    target, mass = scratch(n), 0.0
    for i in range(n):
        target[i] = exp(labels[i] - highest)
        mass += target[i]
    for i in range(n):
        target[i] /= mass
    return cross_entropy_with_step(scores, target, gradient, curvature, eps, step, newton)
