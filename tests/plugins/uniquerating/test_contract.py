"""The losses and the transform of the unique-rating paper keep their contracts."""

from __future__ import annotations

from rankplug.testing import LossContract, TransformContract


class TestURank(LossContract):
    loss = "urank"


class TestWindowedURank(LossContract):
    loss = "urank[window=3]"


class TestUMart(LossContract):
    loss = "umart"


class TestUMartOfAllCompetitors(LossContract):
    loss = "umart[window=none,hessian=true,normalise=false,idcg_at=5]"


class TestSparseFeatures(TransformContract):
    transform = "sparse_features[share=0.6]"
