"""The losses of the XE-NDCG paper keep the loss contract."""

from __future__ import annotations

from rankplug.testing import LossContract


class TestXeNdcg(LossContract):
    loss = "xe_ndcg"


class TestXeNdcgWithoutEmptyLists(LossContract):
    loss = "xe_ndcg[gamma=once,skip_empty=true]"
    zero_cases = frozenset({"one document", "no relevant document"})


class TestXeNdcgAsLightGbmDraws(TestXeNdcg):
    loss = "xe_ndcg[gamma_rng=lightgbm]"


class TestListNet(LossContract):
    loss = "listnet"
