"""The estimator that this package offers."""

from __future__ import annotations

from rankplug import hookimpl


@hookimpl
def rankplug_functions() -> dict[str, str]:
    """Offer the estimator."""
    return {"Ranker": "rankplug_sklearn.ranker:Ranker"}
