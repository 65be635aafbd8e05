"""Specifications of this package: the losses, a transform and the study of unique ratings."""

from __future__ import annotations

import sys
from typing import Any, Literal

from pydantic import Field, field_validator

from rankplug import (
    LossSpecification,
    Parameters,
    ScorerSpecification,
    StudySpecification,
    TransformSpecification,
    hookimpl,
)
from rankplug_uniquerating.scorers import PAPER, SCORERS


class URank(Parameters):
    """Parameters of ``urank``."""

    window: int | None = Field(None, ge=1, description="competitors in a window of the likelihood; none: all at once")

    @property
    def width(self) -> int:
        """The window, as a number."""
        return sys.maxsize if self.window is None else self.window


class UMart(URank):
    """Parameters of ``umart``."""

    window: int | None = Field(2, ge=1, description="competitors in a window of the likelihood; none: all at once")
    sigma: float = Field(2.0, gt=0, description="steepness of the likelihood")
    hessian: Literal["released", "true"] = Field(
        "released", description="released: sigma^3 as in the authors' code; true: sigma^2"
    )
    normalise: bool = Field(True, description="divide by score gaps, as LightGBM may")
    idcg_at: int | None = Field(None, ge=1, description="cut-off of the ideal DCG; none: the whole list")

    @field_validator("hessian", mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        """Read the word true as such, which is a truth value where plugins are named by text."""
        return "true" if value is True else value

    @property
    def deepest(self) -> int:
        """The cut-off of the ideal DCG, as a number."""
        return sys.maxsize if self.idcg_at is None else self.idcg_at


class Sparsity(Parameters):
    """Parameters of ``sparse_features``."""

    share: float = Field(0.8, ge=0, lt=1, description="share of the training documents whose feature becomes 0")


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        LossSpecification(
            name="urank",
            summary="rank each document above all of lower rating; with a window, above a few at a time",
            implementation="rankplug_uniquerating.urank:urank",
            parameters=URank,
            paper=PAPER,
            formula=r"-\frac{1}{R-1}\sum_{y_d>\min y}(2^{y_d}-1)"
            r"\log\frac{e^{f_d}}{e^{f_d}+\sum_{y_{d'}<y_d}e^{f_{d'}}}",
            convex=True,
            curvature="exact",
        ),
        LossSpecification(
            name="umart",
            summary="windowed likelihood weighted by the change of NDCG; LambdaMART where the window is 1",
            implementation="rankplug_uniquerating.umart:umart",
            parameters=UMart,
            paper=PAPER,
            formula=r"\frac{\partial\ell}{\partial f_d} = -\sigma\sum_{y_{d'}<y_d}\Delta Z_{dd'}"
            r"\frac{e^{\sigma f_{d'}}}{e^{\sigma f_d}+\sum_{b\ni d'}e^{\sigma f_b}}"
            r" + \sigma\sum_{y_c>y_d}\Delta Z_{cd}\frac{e^{\sigma f_d}}{e^{\sigma f_c}+\sum_{b\ni d}e^{\sigma f_b}}",
            curvature="surrogate",
            gradient="lambda",
        ),
    ]


@hookimpl
def rankplug_scorers() -> list[ScorerSpecification]:
    """Offer the scorers."""
    return SCORERS


@hookimpl
def rankplug_transforms() -> list[TransformSpecification]:
    """Offer the transforms."""
    return [
        TransformSpecification(
            name="validate_on_test",
            summary="validate on the test part, the protocol of Table 6; never to report new numbers",
            implementation="rankplug_uniquerating.transforms:validate_on_test",
            parts=("valid",),
            paper=PAPER,
        ),
        TransformSpecification(
            name="minmax",
            summary="scale each feature to [0, 1] over all training documents",
            implementation="rankplug_uniquerating.transforms:minmax",
            formula=r"(x - \min_\text{train}) / (\max_\text{train} - \min_\text{train})",
            paper=PAPER,
            by_query=True,
        ),
        TransformSpecification(
            name="sparse_features",
            summary="make each feature 0 for most documents, to see what sparsity alone does",
            implementation="rankplug_uniquerating.transforms:sparse_features",
            parameters=Sparsity,
            formula=r"\max(0, x - q_\text{train})",
            paper=PAPER,
            by_query=True,
        ),
    ]


@hookimpl
def rankplug_studies() -> list[StudySpecification]:
    """Offer the studies."""
    return [
        StudySpecification(
            name="uniquerating",
            summary="uRank, uBoost, urBoost and uMart: tables 1-6 and figure 1, timing, and what the tables leave open",
            implementation="rankplug_uniquerating.study:study",
            paper=PAPER,
        )
    ]
