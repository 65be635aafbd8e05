"""Specifications of this package: debiasings, and transforms that simulate clicks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from rankplug import DebiasingSpecification, Parameters, TransformSpecification, hookimpl


class InversePropensity(Parameters):
    """Parameters of ``ips``."""

    propensities: Literal["harvest", "regression_em"] | tuple[float, ...] = Field(
        "harvest",
        description="how they are estimated: from documents shown at several positions, or with relevance regressed on"
        " the features; or one a position",
    )
    estimator: Literal["ratio", "inverse"] = Field(
        "ratio",
        description="of relevance: clicks over expected examinations, or each click over its propensity (IPS)",
    )


class Dual(Parameters):
    """Parameters of ``dual``."""

    rounds: int = Field(4, ge=1, description="rankers fitted, each by the propensities that the one before gives")


class Users(Parameters):
    """Probabilities with which simulated users click on what they look at."""

    p0: float = Field(0.05, ge=0, le=1, description="probability of a click on a document of label 0")
    law: tuple[float, ...] = Field(
        (0.3, 0.5, 0.7, 0.95), min_length=1, description="probabilities of a click on a document of label 1, 2, ..."
    )

    @field_validator("law")
    @classmethod
    def _probable(cls, law: tuple[float, ...]) -> tuple[float, ...]:
        if not all(0 <= value <= 1 for value in law):
            raise ValueError("probabilities lie between 0 and 1")
        return law

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Probabilities of a click on a document of label 0, 1, 2, ..."""
        return (self.p0, *self.law)


class CascadeClicks(Users):
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


@hookimpl
def rankplug_functions() -> dict[str, str]:
    """Offer ``rankplug.Clicks``."""
    return {"Clicks": "rankplug_clicks:Clicks"}


@hookimpl
def rankplug_debiasings() -> list[DebiasingSpecification]:
    """Offer the debiasings."""
    return [
        DebiasingSpecification(
            name="ips",
            summary="labels are clicks over expected examinations, by propensities that are given or estimated",
            implementation="rankplug_clicks.debiasing:inverse_propensity",
            parameters=InversePropensity,
        ),
        DebiasingSpecification(
            name="dual",
            summary="rankers and propensities in turn, each fitted to the other; not the algorithm of Ai et al. (2018)",
            implementation="rankplug_clicks.debiasing:dual",
            parameters=Dual,
        ),
        DebiasingSpecification(
            name="native",
            summary="hand positions to an engine's own objective",
            implementation="rankplug_clicks.debiasing:native",
        ),
    ]


@hookimpl
def rankplug_transforms() -> list[TransformSpecification]:
    """Offer the transforms."""
    return [
        TransformSpecification(
            name="cascade_clicks",
            summary="replace labels by simulated clicks, one list an impression",
            implementation="rankplug_clicks.simulation:cascade_clicks",
            parameters=CascadeClicks,
            paper="xendcg",
            parts=("train", "valid"),
            by_query=True,
        ),
        TransformSpecification(
            name="click_log",
            summary="replace labels by click rates of simulated users who look less at lower positions",
            implementation="rankplug_clicks.simulation:click_log",
            parameters=ClickLog,
            parts=("train", "valid"),
            by_query=True,
        ),
    ]
