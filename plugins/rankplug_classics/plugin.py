"""What this package offers."""

from __future__ import annotations

from rankplug import LossSpecification, hookimpl


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Losses."""
    return []
