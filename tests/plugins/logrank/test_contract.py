"""The contract of the paper's losses, closed and sampled."""

from __future__ import annotations

from rankplug.testing import LossContract


class TestMle(LossContract):
    loss = "logrank_mle"


class TestMleSampled(LossContract):
    loss = "logrank_mle[rankings=sampled,samples=10]"


class TestExpGain(LossContract):
    loss = "exp_gain"


class TestExpGainSampled(LossContract):
    loss = "exp_gain[gain=map,samples=10]"


class TestL3(LossContract):
    loss = "logrank_l3[divide_by_pairs=true]"


class TestL3Sampled(LossContract):
    loss = "logrank_l3[gain=ndcg,skew=-3,samples=10]"


class TestConvexLoss(LossContract):
    loss = "convex_loss"


class TestConvexLossSampled(LossContract):
    loss = "convex_loss[gain=ndcg,branch=local,samples=10]"


class TestL2(LossContract):
    loss = "logrank_l2"


class TestL2Sampled(LossContract):
    loss = "logrank_l2[gain=ndcg,samples=10]"


class TestExponential(LossContract):
    loss = "logrank_exponential"


class TestExponentialSampled(LossContract):
    loss = "logrank_exponential[gain=map,samples=10]"
