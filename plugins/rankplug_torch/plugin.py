"""What this package offers."""

from __future__ import annotations

from rankplug import BackendSpecification, hookimpl


@hookimpl
def rankplug_backends() -> list[BackendSpecification]:
    """Backends."""
    return []
