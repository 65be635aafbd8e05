"""The contract of PL-Rank, in each version."""

from __future__ import annotations

from rankplug.testing import LossContract


class TestPlackettLuceRank(LossContract):
    loss = "pl_rank"


class TestPlackettLuceRankTwoCutOff(LossContract):
    loss = "pl_rank[version=2,k=3]"


class TestPlackettLuceRankOne(LossContract):
    loss = "pl_rank[version=1,samples=2]"
