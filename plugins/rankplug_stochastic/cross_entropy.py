"""Softmax cross entropy against the labels' shares (Eq. 5-8), the paper's ListNet."""

from __future__ import annotations

from rankplug.compiled import exp, largest, log
from rankplug.losses import list_loss


@list_loss(cost="documents")
def cross_entropy(scores, labels, gradient, curvature, weight_by_label_sum):
    """Compute the cross entropy of one list: the logsumexp of ``f`` minus the sum of ``P(i) f_i``, P = y / sum y."""
    mass = 0.0
    for i in range(labels.size):
        mass += labels[i]
    if mass == 0.0:
        gradient[:] = 0.0
        curvature[:] = 0.0
        return 0.0
    scale = mass if weight_by_label_sum else 1.0
    peak = largest(scores)
    total = 0.0
    for i in range(scores.size):
        gradient[i] = exp(scores[i] - peak)
        total += gradient[i]
    rise = 0.0
    for i in range(scores.size):
        share = labels[i] / mass
        probability = gradient[i] / total
        rise += share * (peak - scores[i])
        gradient[i] = scale * (probability - share)
        curvature[i] = scale * probability * (1.0 - probability)
    return scale * (rise + log(total))
