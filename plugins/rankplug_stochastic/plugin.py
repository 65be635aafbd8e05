"""What this package offers."""

from __future__ import annotations

from pydantic import Field

from rankplug import LossSpecification, Parameters, SamplerSpecification, StudySpecification, hookimpl

PAPER = "stochastic"


class CrossEntropy(Parameters):
    """Parameters of ``cross_entropy``."""

    weight_by_label_sum: bool = Field(False, description="multiply each list by the sum of its labels")


class Gumbel(Parameters):
    """Parameters of ``gumbel``."""

    beta: float = Field(1.0, gt=0, description="scale of the noise")
    samples: int = Field(8, ge=1, description="draws a list and iteration")
    tau: float = Field(1.0, gt=0, description="temperature that divides the perturbed scores")


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Losses."""
    return [
        LossSpecification(
            name="cross_entropy",
            summary="softmax cross entropy against the labels' shares",
            implementation="rankplug_stochastic.cross_entropy:cross_entropy",
            parameters=CrossEntropy,
            paper=PAPER,
            formula=r"-\sum_i \frac{y_i}{\sum_j y_j} f_i + \log\sum_j e^{f_j}",
            convex=True,
            curvature="exact",
        )
    ]


@hookimpl
def rankplug_samplers() -> list[SamplerSpecification]:
    """Samplers."""
    return [
        SamplerSpecification(
            name="gumbel",
            summary="Gumbel noise on the scores",
            implementation="rankplug_stochastic.samplers:gumbel",
            parameters=Gumbel,
            paper=PAPER,
            formula=r"f_i - \beta\log(-\log U_i)",
        )
    ]


@hookimpl
def rankplug_studies() -> list[StudySpecification]:
    """Studies."""
    return [
        StudySpecification(
            name="stochastic",
            summary="Gumbel noise on scores: figures 1-4 and table 1, expected losses beside their baselines",
            implementation="rankplug_stochastic.study:study",
            paper=PAPER,
        )
    ]
