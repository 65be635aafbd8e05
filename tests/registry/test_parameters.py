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
        (
            {"zzz": 2},
            "loss example has no parameter zzz: known: depth, empty, layers, mode, name, norm, sigma",
        ),
        ({"sigma": 0}, "loss example: sigma=0 is not possible (float > 0): input should be greater than 0"),
        (
            {"sigma": "wide"},
            "loss example: sigma='wide' is not possible (float > 0): input should be a valid number, unable to parse"
            " string as a number",
        ),
        (
            {"depth": 0},
            "loss example: depth=0 is not possible (int >= 1 | none): input should be greater than or equal to 1",
        ),
        ({"mode": "fats"}, "loss example: mode='fats' is not possible: did you mean fast?"),
        ({"mode": "q"}, "loss example: mode='q' is not possible: known: exact, fast"),
        ({"empty": 2}, "loss example: empty=2 is not possible (skip | float >= 0 and <= 1)"),
        ({"empty": "skp"}, "loss example: empty='skp' is not possible (skip | float >= 0 and <= 1)"),
        ({"layers": ()}, "loss example: layers=() is not possible ((int, ...)): at least one layer is needed"),
        ({"mode": "exact", "depth": 13}, "loss example: mode=exact does not go with depth=13"),
        (
            {"sigma": -1, "sgma": 1},
            "loss example: sigma=-1 is not possible (float > 0): input should be greater than 0;"
            " loss example has no parameter sgma: did you mean sigma?",
        ),
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
