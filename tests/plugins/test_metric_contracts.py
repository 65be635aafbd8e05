"""The contract of metrics that another library or a definition checks on lists of their own only."""

from __future__ import annotations

from rankplug.testing import MetricContract


class TestKendall(MetricContract):
    metric = "kendall"


class TestSpearman(MetricContract):
    metric = "spearman"


class TestSuccess(MetricContract):
    metric = "success@3"


class TestRankBiasedPrecision(MetricContract):
    metric = "rbp[p=0.5]"
