"""The contract of YetiLoss, for each metric."""

from __future__ import annotations

from rankplug.testing import LossContract


class TestYetiLoss(LossContract):
    loss = "yetiloss"


class TestYetiLossMap(LossContract):
    loss = "yetiloss[metric=map,permutations=3]"


class TestYetiLossMrr(LossContract):
    loss = "yetiloss[metric=mrr]"


class TestYetiLossErr(LossContract):
    loss = "yetiloss[metric=err]"
