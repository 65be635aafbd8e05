"""What this package offers."""

from __future__ import annotations

from rankplug import ScorerSpecification, hookimpl


@hookimpl
def rankplug_scorers() -> list[ScorerSpecification]:
    """Scorers."""
    return []
