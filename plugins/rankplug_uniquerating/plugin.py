"""What this package offers."""

from __future__ import annotations

from rankplug import LossSpecification, ScorerSpecification, hookimpl
from rankplug_uniquerating.scorers import SCORERS


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Losses."""
    return []


@hookimpl
def rankplug_scorers() -> list[ScorerSpecification]:
    """Scorers."""
    return SCORERS
