"""Specifications of this package: the data sets and their transforms."""

from __future__ import annotations

from rankplug import DatasetSpecification, TransformSpecification, hookimpl
from rankplug_data.file_specifications import DATASETS
from rankplug_data.synthetic.parameters import SyntheticParameters
from rankplug_data.transform_specifications import TRANSFORMS

SYNTHETIC = DatasetSpecification(
    name="synthetic",
    summary="synthetic data in the shape of MSLR, Yahoo, .Gov or OHSUMED, the same on every machine",
    implementation="rankplug_data.synthetic.collection:load",
    parameters=SyntheticParameters,
    blocks="rankplug_data.synthetic.collection:blocks",
    licence="MIT, as the program that makes it.",
)


@hookimpl
def rankplug_datasets() -> list[DatasetSpecification]:
    """Offer the data sets."""
    return [*DATASETS, SYNTHETIC]


@hookimpl
def rankplug_transforms() -> list[TransformSpecification]:
    """Offer the transforms."""
    return TRANSFORMS
