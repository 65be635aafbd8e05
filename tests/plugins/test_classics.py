"""The contract of every classic loss."""

from __future__ import annotations

from rankplug.testing import LossContract


class TestMse(LossContract):
    loss = "mse"
    zero_cases = frozenset()


class TestMseWithItsWholeDiagonal(LossContract):
    loss = "mse[curvature=diagonal]"
    zero_cases = frozenset()
    longest = 300


class TestBoltzRank(LossContract):
    loss = "boltzrank"


class TestBoltzRankWithEstimatedCurvature(LossContract):
    loss = "boltzrank[curvature=hutchinson,rankings=7]"
