"""A wrong parameter is answered with one sentence: the plugin, the parameter, what it may be."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field, field_validator, model_validator

from rankplug import Parameters
from rankplug.errors import ParameterError
from rankplug.registry import read_parameters


class Example(Parameters):
    """Parameters of every type."""

    sigma: float = Field(1.0, gt=0, description="steepness")
    depth: int | None = Field(None, ge=1)
    mode: Literal["fast", "exact"] = "fast"
    norm: bool = True
    layers: tuple[int, ...] = (10,)
    empty: Literal["skip"] | Annotated[float, Field(ge=0, le=1)] = "skip"
    name: str = "x"

    @field_validator("layers")
    @classmethod
    def _some(cls, layers: tuple[int, ...]) -> tuple[int, ...]:
        if not layers:
            raise ValueError("at least one layer is needed")
        return layers

    @model_validator(mode="after")
    def _deep_enough(self) -> Example:
        if self.mode == "exact" and self.depth == 13:
            raise ValueError("mode=exact does not go with depth=13")
        return self


class Needed(Parameters):
    samples: int = Field(ge=1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sgma": 2}, "loss example has no parameter sgma: did you mean sigma?"),
        ({"sigma": 0}, "loss example: sigma=0 is not possible (float > 0): input should be greater than 0"),
        ({"mode": "fats"}, "loss example: mode='fats' is not possible: did you mean fast?"),
        ({"layers": ()}, "loss example: layers=() is not possible ((int, ...)): at least one layer is needed"),
        ({"mode": "exact", "depth": 13}, "loss example: mode=exact does not go with depth=13"),
    ],
)
def test_a_wrong_parameter_is_named_with_what_is_allowed(given, message):
    with pytest.raises(ParameterError) as caught:
        read_parameters(Example, given, "loss example")
    assert str(caught.value) == message


def test_a_missing_parameter_is_named_with_its_type():
    with pytest.raises(ParameterError) as caught:
        read_parameters(Needed, {}, "sampler s")
    assert str(caught.value) == "sampler s needs the parameter samples (int >= 1)"
