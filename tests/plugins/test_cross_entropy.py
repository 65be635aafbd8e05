"""``cross_entropy`` keeps the loss contract."""

from __future__ import annotations

from rankplug.testing import LossContract


class TestCrossEntropy(LossContract):
    loss = "cross_entropy"
    zero_cases = frozenset({"one document", "no relevant document"})
