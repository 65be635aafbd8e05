"""Every metric keeps the contract of metrics."""

from __future__ import annotations

from rankplug.testing import MetricContract

CUT = ("ndcg@5", "dcg", "err", "map", "mrr", "precision@3", "recall", "success@3", "rbp[p=0.5]")

for _metric in (*CUT, "auc", "kendall", "spearman"):
    _name = f"Test_{_metric}"
    globals()[_name] = type(_name, (MetricContract,), {"metric": _metric, "__module__": __name__})
