"""Specifications of this package: the study that crosses all losses, backends and noise."""

from __future__ import annotations

from rankplug import StudySpecification, hookimpl


@hookimpl
def rankplug_studies() -> list[StudySpecification]:
    """Offer the studies."""
    return [
        StudySpecification(
            name="crossover",
            summary="every loss with every backend, with and without noise, beside the papers' own combinations",
            implementation="rankplug_crossover.study:study",
        )
    ]
