"""The contract of LambdaGap, in each of its ways."""

from __future__ import annotations

from rankplug.testing import LossContract


class TestLambdaGap(LossContract):
    loss = "lambdagap[k=2]"


class TestLambdaGapBesidePrecision(LossContract):
    loss = "lambdagap[k=2,gap=s,beside=precision,mu=2]"


class TestLambdaGapBesideAverageRelevancePosition(LossContract):
    loss = "lambdagap[k=3,beside=arp,sigma=2,norm=true]"
