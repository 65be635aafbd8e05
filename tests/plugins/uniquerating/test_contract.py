"""The losses of the unique-rating paper keep the loss contract."""

from __future__ import annotations

from rankplug.testing import LossContract


class TestURank(LossContract):
    loss = "urank"


class TestWindowedURank(LossContract):
    loss = "urank[window=3]"


class TestUMart(LossContract):
    loss = "umart"


class TestUMartOfAllCompetitors(LossContract):
    loss = "umart[window=none,hessian=true,normalise=false,idcg_at=5]"
