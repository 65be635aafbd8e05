"""The contract of StochasticRank."""

from __future__ import annotations

from rankplug.testing import LossContract


class TestStochasticRank(LossContract):
    loss = "stochastic_rank"


class TestStochasticRankCutOff(LossContract):
    loss = "stochastic_rank[sigma=0.5,samples=3,k=2]"
