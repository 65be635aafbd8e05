"""The pages on made data and transforms name everything that there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from rankplug_data.synthetic.parameters import SyntheticParameters
from rankplug_data.synthetic.shapes import SHAPES
from rankplug_data.transform_specifications import TRANSFORMS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("word", [*SyntheticParameters.model_fields, *SHAPES])
def test_the_page_on_made_data_names_every_parameter_and_shape(word):
    assert f"`{word}`" in (DOCS / "synthetic.md").read_text()


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.name)
def test_the_page_on_transforms_names_every_transform_and_parameter(transform):
    page = (DOCS / "transforms.md").read_text()
    assert f"| `{transform.name}" in page
    for parameter in transform.parameters.model_fields:
        assert parameter in page
