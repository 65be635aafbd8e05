"""What this package offers."""

from __future__ import annotations

from rankplug import DatasetSpecification, TransformSpecification, hookimpl
from rankplug_data import catalogue


@hookimpl
def rankplug_datasets() -> list[DatasetSpecification]:
    """Data sets."""
    return [*catalogue.dataset_specifications()]


@hookimpl
def rankplug_transforms() -> list[TransformSpecification]:
    """Transforms."""
    return [*catalogue.transform_specifications()]
