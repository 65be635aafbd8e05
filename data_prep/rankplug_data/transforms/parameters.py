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


class Users(Parameters):
    """Probabilities with which simulated users click on what they look at."""

    p0: float = Field(0.05, ge=0, le=1, description="probability of a click on a document of label 0")
    law: tuple[float, ...] = Field(
        (0.3, 0.5, 0.7, 0.95), min_length=1, description="probabilities of a click on a document of label 1, 2, ..."
    )

    @field_validator("law")
    @classmethod
    def _probable(cls, law: tuple[float, ...]) -> tuple[float, ...]:
        return _probabilities(law)

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Probabilities of a click on a document of label 0, 1, 2, ..."""
        return (self.p0, *self.law)


class Clicks(Users):
    """Parameters of ``cascade_clicks``."""

    impressions: int = Field(10, ge=1, description="how often each query is shown")
    keep_clickless: bool = Field(False, description="whether training keeps impressions without a click")


class ClickLog(Users):
    """Parameters of ``click_log``."""

    model: Literal["position", "cascade", "dbn"] = Field(
        "position",
        description="users: who look at each position by its propensity, who leave at a click, or who leave satisfied"
        " or tired (a dynamic Bayesian network)",
    )
    p0: float = Field(0.1, ge=0, le=1, description="probability of a click on a document of label 0 that is looked at")
    law: tuple[float, ...] = Field(
        (0.16, 0.28, 0.52, 1.0), min_length=1, description="probabilities of a click on a document of label 1, 2, ..."
    )
    eta: float = Field(1.0, ge=0, description="position k is looked at with probability k^-eta, of model=position")
    persistence: float = Field(0.9, ge=0, le=1, description="probability of a look at the next position, of model=dbn")
    positions: int = Field(10, ge=1, description="how many documents are shown")
    impressions: int = Field(100, ge=1, description="how often each query is shown")
    swaps: float = Field(0.1, ge=0, le=1, description="share of impressions in which two documents change places")
    policy_share: float = Field(
        0.01, gt=0, le=1, description="share of the training queries whose labels the ranker that shows documents saw"
    )
    lists: Literal["queries", "impressions"] = Field(
        "queries", description="one list a query with click rates as labels, or one an impression with clicks"
    )
