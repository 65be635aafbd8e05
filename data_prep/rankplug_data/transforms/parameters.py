"""Parameters of the transforms."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator

from rankplug.registry import Parameters

Part = Literal["train", "valid", "test"]
Parts = Annotated[tuple[Part, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)]


def _probabilities(values: tuple[float, ...]) -> tuple[float, ...]:
    if not all(0 <= value <= 1 for value in values):
        raise ValueError("probabilities lie between 0 and 1")
    return values


class EveryPart(Parameters):
    """Parameters of transforms that usually change all of the data."""

    parts: Parts = Field(("train", "valid", "test"), description="parts of the split that are changed")


class WhatIsLearntFrom(Parameters):
    """Parameters of transforms that leave the test part alone unless told otherwise."""

    parts: Parts = Field(("train", "valid"), description="parts of the split that are changed")


class Truncation(Parameters):
    """Parameters of ``truncate_lists``."""

    size: int = Field(ge=1, description="documents that a list keeps at most")
    keep: Literal["first", "random"] = Field("first", description="which documents a longer list keeps")
    parts: Parts = Field(("train",), description="parts of the split that are changed")


class Threshold(Parameters):
    """Parameters of ``binarise``."""

    threshold: float = Field(1.0, gt=0, description="the lowest label that counts as relevant")


class TrainingNoise(Parameters):
    """Parameters of noise in the training part, and on request in the validation part."""

    share: float = Field(ge=0, description="documents touched in each list, as a share of its length")
    noisy_validation: bool = Field(False, description="whether the validation part gets the noise too")

    @property
    def parts(self) -> tuple[Part, ...]:
        """Parts of the split that get the noise."""
        return ("train", "valid") if self.noisy_validation else ("train",)


class Augmentation(TrainingNoise):
    """Parameters of ``negative_augmentation``."""


class Flips(TrainingNoise):
    """Parameters of ``label_flips``."""

    share: float = Field(ge=0, le=1, description="labels drawn anew in each list, as a share of its length")
    law: tuple[float, ...] = Field(
        (0.5, 0.2, 0.15, 0.1, 0.05), min_length=1, description="probabilities of the new label 0, 1, 2, ..."
    )

    @field_validator("law")
    @classmethod
    def _sums_to_one(cls, law: tuple[float, ...]) -> tuple[float, ...]:
        _probabilities(law)
        if not math.isclose(math.fsum(law), 1.0, abs_tol=1e-9):
            raise ValueError(f"the probabilities sum to {math.fsum(law):g}, not 1")
        return law
