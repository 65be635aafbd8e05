"""Specifications of this package: the data sets and their transforms."""

from __future__ import annotations

from rankplug import DatasetSpecification, TransformSpecification, hookimpl
from rankplug_data.file_specifications import DATASETS
from rankplug_data.synthetic_specification import SYNTHETIC
from rankplug_data.transform_specifications import TRANSFORMS


@hookimpl
def rankplug_datasets() -> list[DatasetSpecification]:
    """Offer the data sets."""
    return [*DATASETS, SYNTHETIC]


@hookimpl
def rankplug_transforms() -> list[TransformSpecification]:
    """Offer the transforms."""
    return TRANSFORMS
