"""The transforms as plugins, with their parameters; light, as this is imported for every listing."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from rankplug import TransformSpecification
from rankplug.registry import Parameters

Part = Literal["train", "valid", "test"]
Parts = Annotated[tuple[Part, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)]


class EveryPart(Parameters):
    """Parameters of transforms that usually change all of the data."""

    parts: Parts = Field(("train", "valid", "test"), description="parts of the split that are changed")


class WhatIsLearntFrom(Parameters):
    """Parameters of transforms that leave the test part unchanged by default."""

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

    share: float = Field(ge=0, le=1, description="labels replaced in each list, as a share of its length")
    law: tuple[float, ...] = Field(
        (0.5, 0.2, 0.15, 0.1, 0.05), min_length=1, description="probabilities of the new label 0, 1, 2, ..."
    )

    @field_validator("law")
    @classmethod
    def _sums_to_one(cls, law: tuple[float, ...]) -> tuple[float, ...]:
        if not all(0 <= value <= 1 for value in law):
            raise ValueError("probabilities lie between 0 and 1")
        if not math.isclose(math.fsum(law), 1.0, abs_tol=1e-9):
            raise ValueError(f"the probabilities sum to {math.fsum(law):g}, not 1")
        return law


class RandomSplitParameters(Parameters):
    """Shares of the queries; the test part has the rest."""

    train: float = Field(0.6, gt=0, lt=1, description="share of the queries for training")
    valid: float = Field(0.2, gt=0, lt=1, description="share of the queries for validation")

    @model_validator(mode="after")
    def _leave_some_for_test(self) -> RandomSplitParameters:
        if self.train + self.valid >= 1:
            raise ValueError(f"train={self.train} and valid={self.valid} leave no query for the test part")
        return self


TRANSFORMS = [
    TransformSpecification(
        name="random_split",
        summary="pool train, valid and test and split again by query",
        implementation="rankplug_data.transforms:random_split",
        parameters=RandomSplitParameters,
        paper="xendcg",
    ),
    TransformSpecification(
        name="query_minmax",
        summary="scale each feature to [0, 1] within its query",
        implementation="rankplug_data.transforms:query_minmax",
        paper="uniquerating",
        formula=r"\frac{x - \min}{\max - \min + 10^{-8}}",
        by_query=True,
    ),
    TransformSpecification(
        name="standardise",
        summary="give each feature mean 0 and deviation 1 in the training part",
        implementation="rankplug_data.transforms:standardise",
        formula=r"\frac{x - \mu_\text{train}}{\sigma_\text{train}}",
        by_query=True,
    ),
    TransformSpecification(
        name="log1p",
        summary="take the logarithm of each feature's size, keeping its sign",
        implementation="rankplug_data.transforms:log1p",
        formula=r"\operatorname{sign}(x) \ln(1 + |x|)",
        by_query=True,
    ),
    TransformSpecification(
        name="drop_empty",
        summary="leave out queries without a relevant document",
        implementation="rankplug_data.transforms:drop_empty",
        parameters=EveryPart,
        by_query=True,
    ),
    TransformSpecification(
        name="drop_uniform",
        summary="leave out queries whose documents all have one label",
        implementation="rankplug_data.transforms:drop_uniform",
        parameters=WhatIsLearntFrom,
        paper="uniquerating",
        by_query=True,
    ),
    TransformSpecification(
        name="drop_conflicting",
        summary="leave out documents that equal one of another label in their query",
        implementation="rankplug_data.transforms:drop_conflicting",
        parameters=EveryPart,
        paper="logrank",
        by_query=True,
    ),
    TransformSpecification(
        name="truncate_lists",
        summary="cut long lists",
        implementation="rankplug_data.transforms:truncate_lists",
        parameters=Truncation,
    ),
    TransformSpecification(
        name="binarise",
        summary="make labels 0 and 1",
        implementation="rankplug_data.transforms:binarise",
        parameters=Threshold,
        paper="logrank",
        by_query=True,
    ),
    TransformSpecification(
        name="label_flips",
        summary="replace a share of each list's labels at random",
        implementation="rankplug_data.transforms:label_flips",
        parameters=Flips,
        paper="xendcg",
        by_query=True,
    ),
    TransformSpecification(
        name="negative_augmentation",
        summary="add documents of other queries as irrelevant ones",
        implementation="rankplug_data.transforms:negative_augmentation",
        parameters=Augmentation,
        paper="xendcg",
        by_query=True,
    ),
]
