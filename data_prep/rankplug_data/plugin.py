"""What this package offers."""

from __future__ import annotations

from rankplug import DatasetSpecification, TransformSpecification, hookimpl
from rankplug_data.synthetic_specification import SYNTHETIC


@hookimpl
def rankplug_datasets() -> list[DatasetSpecification]:
    """Data sets."""
    return [SYNTHETIC]


@hookimpl
def rankplug_transforms() -> list[TransformSpecification]:
    """Transforms."""
    return []
