"""Mean squared error between scores and labels, the pointwise baseline."""

from __future__ import annotations

from rankplug.losses import padded_loss


@padded_loss(cost="documents")
def mse(scores, labels, mask):
    """Return the mean over the documents of ``(f - y)^2``."""
    return ((scores - labels).square() * mask).sum(1) / mask.sum(1)
