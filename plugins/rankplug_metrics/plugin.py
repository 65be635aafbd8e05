"""What this package offers."""

from __future__ import annotations

from rankplug import MetricSpecification, hookimpl


@hookimpl
def rankplug_metrics() -> list[MetricSpecification]:
    """Metrics."""
    return []
