"""Mean squared error between scores and labels, the pointwise baseline."""

from __future__ import annotations

from rankplug.losses import padded_loss


@padded_loss(cost="documents", per_document=True)
def mse(scores, labels, mask):
    """Return each document's part of the mean of ``(f - y)^2``."""
    return (scores - labels).square() * mask / mask.sum(1, keepdim=True)
