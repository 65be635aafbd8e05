"""Specifications of this package: the losses and the study of XE-NDCG."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from rankplug import LossSpecification, Parameters, StudySpecification, hookimpl

PAPER = "xendcg"
FIXED = 2


class NewtonStep(Parameters):
    """Parameters of a cross entropy that has a second-order step for boosting."""

    eps: float = Field(0.0, ge=0, description="mass of an unseen document among the scores' exponentials (Eq. 14)")
    step: Literal["series", "exact", "diagonal"] = Field(
        "series", description="what boosting engines get as their gradient; everything else gets the true one"
    )


class XeNdcg(NewtonStep):
    """Parameters of ``xe_ndcg``."""

    gamma: Literal["per_iteration", "once"] | float = Field(
        "per_iteration", description="drawn in every iteration, drawn once, or a number between 0 and 1"
    )
    gamma_rng: Literal["counter", "lightgbm"] = Field(
        "counter", description="lightgbm repeats the draws of its rank_xendcg, for tests of parity"
    )
    objective_seed: int = Field(5, ge=0, description="seed of gamma_rng=lightgbm, as LightGBM names it")
    skip_empty: bool = Field(False, description="leave out lists without a relevant document, whose target is random")

    @field_validator("gamma")
    @classmethod
    def _inside_the_unit_interval(cls, gamma: str | float) -> str | float:
        if isinstance(gamma, float) and not 0.0 <= gamma <= 1.0:
            raise ValueError("a fixed gamma lies between 0 and 1")
        return gamma

    @property
    def gamma_source(self) -> int:
        """Position among ``per_iteration, once`` and a fixed number."""
        return FIXED if isinstance(self.gamma, float) else ("per_iteration", "once").index(self.gamma)

    @property
    def fixed_gamma(self) -> float:
        """The number, where gamma is one."""
        return self.gamma if isinstance(self.gamma, float) else 0.0


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        LossSpecification(
            name="xe_ndcg",
            summary="softmax cross entropy against gains blurred at random, a convex bound on NDCG",
            implementation="rankplug_xendcg.losses:xe_ndcg",
            parameters=XeNdcg,
            paper=PAPER,
            formula=r"-\sum_i \frac{2^{y_i}-\gamma_i}{\sum_j (2^{y_j}-\gamma_j)} \log\frac{e^{f_i}}{\sum_j e^{f_j}},"
            r"\quad \gamma_i\sim U[0,1]",
            convex=True,
            curvature="exact",
            zero_gradient=frozenset({"one document"}),
            needs=frozenset({"noise"}),
        ),
        LossSpecification(
            name="listnet",
            summary="softmax cross entropy against the softmax of the labels",
            implementation="rankplug_xendcg.losses:listnet",
            parameters=NewtonStep,
            paper=PAPER,
            formula=r"-\sum_i \frac{e^{y_i}}{\sum_j e^{y_j}} \log\frac{e^{f_i}}{\sum_j e^{f_j}}",
            convex=True,
            curvature="exact",
            zero_gradient=frozenset({"one document"}),
        ),
    ]


@hookimpl
def rankplug_studies() -> list[StudySpecification]:
    """Offer the studies."""
    return [
        StudySpecification(
            name="xendcg",
            summary="XE-NDCG beside ListNet and lambdaMART, with noisy labels and clicks: figures 1-3 and table 1",
            implementation="rankplug_xendcg.study:study",
            paper=PAPER,
        )
    ]
