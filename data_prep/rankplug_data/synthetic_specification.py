"""The made data set, as the registry lists it."""

from __future__ import annotations

from rankplug import DatasetSpecification
from rankplug_data.synthetic.parameters import SyntheticParameters

SYNTHETIC = DatasetSpecification(
    name="synthetic",
    summary="made data in the shape of MSLR, Yahoo, .Gov or OHSUMED, the same on every machine",
    implementation="rankplug_data.synthetic.collection:load",
    parameters=SyntheticParameters,
    blocks="rankplug_data.synthetic.collection:blocks",
    licence="MIT, as the program that makes it.",
)
