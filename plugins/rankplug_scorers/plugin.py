"""Specifications of this package: trees and linear models as scorers."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from rankplug import Parameters, ScorerSpecification, hookimpl
from rankplug.errors import RankplugError
from rankplug.registry import Reference, parse


def _several(value: Any) -> Any:
    return value if isinstance(value, tuple) else (value,)


def _settings_of_engines(value: Any) -> Any:
    try:
        return tuple(parse(engine) for engine in _several(value))
    except RankplugError as error:
        raise ValueError(str(error)) from None


Features = Annotated[tuple[int | str, ...], BeforeValidator(_several)]
"""Features by name, or by position from 0."""


class Trees(Parameters):
    """Parameters of ``trees``."""

    leaves: int | None = Field(
        None, ge=2, description="leaves of a tree at most; by default a 6th of the root of the queries' number, 4 to 31"
    )
    learning_rate: float = Field(0.05, gt=0, description="factor on the leaves' values")
    rounds: int = Field(300, ge=1, description="number of trees")
    min_data: int = Field(20, ge=0, description="documents of a leaf at least; XGBoost has no such limit")
    min_hessian: float = Field(1e-3, ge=0, description="sum of curvatures of a leaf at least")
    max_bin: int = Field(255, ge=2, description="bins of a feature")
    max_depth: int = Field(0, ge=0, description="depth of a tree at most, 0 for any")
    l2: float = Field(1.0, ge=0, description="added to a leaf's sum of curvatures")
    bagging: float = Field(1.0, gt=0, le=1, description="share of documents a tree sees")
    query_bagging: float = Field(1.0, gt=0, le=1, description="share of queries a tree sees, with all their documents")
    bagging_frequency: int = Field(1, ge=1, description="trees after which those shares are sampled again")
    feature_fraction: float | None = Field(
        None,
        gt=0,
        le=1,
        description="share of features a tree sees; by default 0.3, or more where that is fewer than 8",
    )
    boosting: Literal["gbdt", "dart"] = Field("gbdt", description="dart drops earlier trees at random")
    drop_rate: float = Field(0.1, ge=0, le=1, description="share of trees that dart drops")
    linear_tree: bool = Field(False, description="linear models in the leaves; LightGBM only")
    categorical: Features = Field((), description="features that are codes of categories, by name or position from 0")
    increasing: Features = Field((), description="features with which no score falls, by name or position from 0")
    decreasing: Features = Field((), description="features with which no score rises, by name or position from 0")
    engine: Annotated[tuple[Reference, ...], BeforeValidator(_settings_of_engines)] = Field(
        (), description="an engine's own parameters, such as lightgbm[path_smooth=1], or a tuple with some of several"
    )

    def for_data(self, queries: int, features: int) -> Trees:
        """Return the trees with as many leaves, and as few features, as the training data bear.

        >>> trees = [Trees().for_data(queries, features=25) for queries in (60, 600, 6_000, 60_000)]
        >>> [each.leaves for each in trees], trees[0].feature_fraction
        ([4, 4, 13, 31], 0.32)
        """
        usual = {
            "leaves": min(max(round(math.sqrt(queries) / 6), 4), 31),
            "feature_fraction": min(max(0.3, math.ceil(800 / max(features, 1)) / 100), 1.0),
        }
        return self.model_copy(update={name: usual[name] for name in usual if getattr(self, name) is None})


class RankLibTrees(Trees):
    """``trees`` with the settings RankLib takes for LambdaMART by default."""

    leaves: int = Field(10, ge=2, description="leaves of a tree at most")
    learning_rate: float = Field(0.1, gt=0, description="factor on the leaves' values")
    rounds: int = Field(1000, ge=1, description="number of trees")
    min_data: int = Field(1, ge=0, description="documents of a leaf at least; XGBoost has no such limit")
    # RankLib has no such limit; without one LightGBM stops on some data, as it counts documents by their curvatures.
    min_hessian: float = Field(1e-3, ge=0, description="sum of curvatures of a leaf at least")
    max_bin: int = Field(256, ge=2, description="bins of a feature")
    l2: float = Field(0.0, ge=0, description="added to a leaf's sum of curvatures")
    feature_fraction: float = Field(1.0, gt=0, le=1, description="share of features a tree sees")


class Linear(Parameters):
    """Parameters of ``linear``; ``rounds`` and ``learning_rate`` are XGBoost's, other backends have their own."""

    rounds: int = Field(100, ge=1, description="passes of coordinate descent, in XGBoost")
    learning_rate: float = Field(0.5, gt=0, description="factor on a step, in XGBoost")
    l2: float = Field(0.0, ge=0, description="weight of the squared norm, in XGBoost")


SEARCH_OF_TREES = (
    "trees[leaves=[4,8,16,31,63],learning_rate=[0.02,0.05,0.1,0.2],min_data=[5,20,50,100],"
    "min_hessian=[0.001,0.1,1],l2=[0,1,10],bagging=[0.6,0.8,1],feature_fraction=[0.3,0.6,1]]"
)


@hookimpl
def rankplug_scorers() -> list[ScorerSpecification]:
    """Offer the scorers that several backends fit."""
    trees = {
        "lightgbm": "rankplug_scorers.trees:lightgbm_settings",
        "xgboost": "rankplug_scorers.trees:xgboost_settings",
    }
    return [
        ScorerSpecification(
            name="trees",
            summary="a sum of regression trees, grown leaf by leaf",
            parameters=Trees,
            formula=r"\sum_t \eta\, T_t(x)",
            fitted_by=trees,
            search=SEARCH_OF_TREES,
        ),
        ScorerSpecification(
            name="ranklib_trees",
            summary="trees with RankLib's default LambdaMART settings; stop early with patience=100 on ndcg@10",
            parameters=RankLibTrees,
            formula=r"\sum_t \eta\, T_t(x)",
            fitted_by=trees,
        ),
        ScorerSpecification(
            name="linear",
            summary="a weighted sum of the features",
            parameters=Linear,
            formula=r"w^\top x",
            complete=True,
            fitted_by={
                "cutting_planes": "rankplug_scorers.linear:LinearScorer",
                "lbfgs": "rankplug_scorers.linear:LinearScorer",
                "torch": "rankplug_torch.networks:linear",
                "xgboost": "rankplug_scorers.trees:xgboost_linear_settings",
            },
        ),
    ]
