"""The losses of the stochastic paper keep the loss contract."""

from __future__ import annotations

from rankplug.testing import LossContract


class TestCrossEntropy(LossContract):
    loss = "cross_entropy"


class TestCrossEntropyWeightedByLabelSum(TestCrossEntropy):
    loss = "cross_entropy[weight_by_label_sum=true]"


class TestApproxNdcg(LossContract):
    loss = "approx_ndcg"


class TestLambdaRank(LossContract):
    loss = "lambdarank[sigma=2]"


class TestNormalisedAndTruncatedLambdaRank(LossContract):
    loss = "lambdarank[norm=true,truncation=5]"
