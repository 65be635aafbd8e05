"""What this package offers."""

from __future__ import annotations

from rankplug import DatasetSpecification, TransformSpecification, hookimpl


@hookimpl
def rankplug_datasets() -> list[DatasetSpecification]:
    """Data sets."""
    return []


@hookimpl
def rankplug_transforms() -> list[TransformSpecification]:
    """Transforms."""
    return []
