"""The transforms, as the registry lists them."""

from __future__ import annotations

from rankplug import TransformSpecification
from rankplug_data.transforms.parameters import (
    Augmentation,
    EveryPart,
    Flips,
    Threshold,
    Truncation,
    WhatIsLearntFrom,
)

TRANSFORMS = [
    TransformSpecification(
        name="query_minmax",
        summary="scale each feature to [0, 1] within its query",
        implementation="rankplug_data.transforms.scaling:query_minmax",
        paper="uniquerating",
        formula=r"\frac{x - \min}{\max - \min + 10^{-8}}",
        by_query=True,
    ),
    TransformSpecification(
        name="standardise",
        summary="give each feature mean 0 and deviation 1 in the training part",
        implementation="rankplug_data.transforms.scaling:standardise",
        formula=r"\frac{x - \mu_\text{train}}{\sigma_\text{train}}",
        by_query=True,
    ),
    TransformSpecification(
        name="log1p",
        summary="take the logarithm of each feature's size, keeping its sign",
        implementation="rankplug_data.transforms.scaling:log1p",
        formula=r"\operatorname{sign}(x) \ln(1 + |x|)",
        by_query=True,
    ),
    TransformSpecification(
        name="drop_empty",
        summary="leave out queries without a relevant document",
        implementation="rankplug_data.transforms.cleaning:drop_empty",
        parameters=EveryPart,
        by_query=True,
    ),
    TransformSpecification(
        name="drop_uniform",
        summary="leave out queries whose documents all have one label",
        implementation="rankplug_data.transforms.cleaning:drop_uniform",
        parameters=WhatIsLearntFrom,
        paper="uniquerating",
        by_query=True,
    ),
    TransformSpecification(
        name="drop_conflicting",
        summary="leave out documents that equal one of another label in their query",
        implementation="rankplug_data.transforms.cleaning:drop_conflicting",
        parameters=EveryPart,
        paper="logrank",
        by_query=True,
    ),
    TransformSpecification(
        name="truncate_lists",
        summary="cut long lists",
        implementation="rankplug_data.transforms.cleaning:truncate_lists",
        parameters=Truncation,
    ),
    TransformSpecification(
        name="binarise",
        summary="make labels 0 and 1",
        implementation="rankplug_data.transforms.labels:binarise",
        parameters=Threshold,
        paper="logrank",
        by_query=True,
    ),
    TransformSpecification(
        name="label_flips",
        summary="draw a share of each list's labels anew",
        implementation="rankplug_data.transforms.labels:label_flips",
        parameters=Flips,
        paper="xendcg",
        by_query=True,
    ),
    TransformSpecification(
        name="negative_augmentation",
        summary="add documents of other queries as irrelevant ones",
        implementation="rankplug_data.transforms.augmentation:negative_augmentation",
        parameters=Augmentation,
        paper="xendcg",
        by_query=True,
    ),
]
