"""What this package offers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rankplug import LossSpecification, PaddedParameters, hookimpl


class MeanSquaredError(PaddedParameters):
    """Parameters of ``mse``; one probe of the hutchinson curvature is exact here, as documents do not interact."""

    curvature: Literal["ones", "hutchinson", "diagonal"] = Field("hutchinson", description="for boosting")


class BoltzRank(PaddedParameters):
    """Parameters of ``boltzrank``."""

    rankings: int = Field(50, ge=1, description="rankings drawn around the labels in each iteration")
    expected_gain: float = Field(0.5, ge=0, le=1, description="share of the expected NDCG, the rest is cross entropy")
    temperature: float = Field(1.0, gt=0, description="of the labels' own law of rankings")


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Losses."""
    return [
        LossSpecification(
            name="mse",
            summary="mean squared error between scores and labels",
            implementation="rankplug_classics.mse:mse",
            parameters=MeanSquaredError,
            paper="regression, Cossock and Zhang 2006",
            formula=r"\frac1n\sum_i (f_i - y_i)^2",
            convex=True,
            shift_invariant=False,
            curvature="exact",
        ),
        LossSpecification(
            name="boltzrank",
            summary="expected NDCG and cross entropy under a Boltzmann law of rankings",
            implementation="rankplug_classics.boltzrank:boltzrank",
            parameters=BoltzRank,
            paper="BoltzRank, Volkovs and Zemel 2009",
            formula=r"-\lambda\,E_P[\mathrm{NDCG}] - (1-\lambda)\sum_R Q(R)\log P(R),\quad"
            r" P(R) \propto \exp\tfrac{2}{n(n-1)}\sum_i (n-1-2r_i) f_i",
            needs=frozenset({"noise"}),
        ),
    ]
