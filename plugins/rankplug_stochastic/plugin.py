"""Specifications of this package: the losses, samplers and study of stochastic ranking."""

from __future__ import annotations

import sys
from typing import Literal

from pydantic import Field

from rankplug import LossSpecification, Parameters, SamplerSpecification, StudySpecification, hookimpl

PAPER = "stochastic"


class CrossEntropy(Parameters):
    """Parameters of ``cross_entropy``."""

    weight_by_label_sum: bool = Field(False, description="multiply each list by the sum of its labels")


class ApproxNdcg(Parameters):
    """Parameters of ``approx_ndcg``."""

    eta: float = Field(10.0, gt=0, description="steepness of the sigmoids")


class LambdaRank(Parameters):
    """Parameters of ``lambdarank``; the paper has ``sigma=2``, LightGBM's defaults are ``norm=true,truncation=30``."""

    sigma: float = Field(1.0, gt=0, description="steepness of the sigmoids")
    norm: bool = Field(False, description="divide by score gaps and by the size of a list's gradient, as LightGBM may")
    truncation: int | None = Field(None, ge=1, description="best ranks of which one must be in a pair; none: all")
    arithmetic: Literal["exact", "lightgbm"] = Field("exact", description="lightgbm repeats its roundings bit by bit")

    @property
    def deepest(self) -> int:
        """The truncation, as a number."""
        return sys.maxsize if self.truncation is None else self.truncation


class Noise(Parameters):
    """Parameters of every sampler."""

    beta: float = Field(1.0, gt=0, description="scale of the noise")
    samples: int = Field(8, ge=1, description="draws a list and iteration")
    tau: float = Field(1.0, gt=0, description="temperature that divides the perturbed scores")


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        LossSpecification(
            name="cross_entropy",
            summary="softmax cross entropy against the labels' shares",
            implementation="rankplug_stochastic.losses:cross_entropy",
            parameters=CrossEntropy,
            paper=PAPER,
            formula=r"-\sum_i \frac{y_i}{\sum_j y_j} f_i + \log\sum_j e^{f_j}",
            convex=True,
            curvature="exact",
            zero_gradient=frozenset({"one document", "no relevant document"}),
        ),
        LossSpecification(
            name="approx_ndcg",
            summary="minus NDCG at ranks made smooth by sigmoids",
            implementation="rankplug_stochastic.losses:approx_ndcg",
            parameters=ApproxNdcg,
            paper=PAPER,
            formula=r"-\frac{1}{\mathrm{IDCG}}\sum_i \frac{2^{y_i}-1}{\log_2(1+r_i)},"
            r"\quad r_i = 1+\sum_{j\ne i}\frac{1}{1+e^{-\eta(f_j-f_i)}}",
            zero_gradient=frozenset({"one document", "no relevant document"}),
        ),
        LossSpecification(
            name="lambdarank",
            summary="pairwise logistic gradients weighted by the change of NDCG, the objective of LambdaMART",
            implementation="rankplug_stochastic.lambdarank:lambdarank",
            parameters=LambdaRank,
            paper=PAPER,
            formula=r"\sum_{y_i>y_j} \frac{(2^{y_i}-2^{y_j})\,|D(\pi_i)-D(\pi_j)|}{\mathrm{IDCG}}"
            r"\log\left(1+e^{-\sigma(f_i-f_j)}\right),\quad D(r)=\frac{1}{\log_2(1+r)}",
            curvature="surrogate",
            gradient="lambda",
        ),
    ]


@hookimpl
def rankplug_samplers() -> list[SamplerSpecification]:
    """Offer the samplers."""
    return [
        SamplerSpecification(
            name="gumbel",
            summary="Gumbel noise on the scores",
            implementation="rankplug_stochastic.samplers:gumbel",
            parameters=Noise,
            paper=PAPER,
            formula=r"\frac{1}{\tau}\left(f_i - \beta\log(-\log U_i)\right)",
        ),
        SamplerSpecification(
            name="logistic",
            summary="logistic noise on the scores",
            implementation="rankplug_stochastic.samplers:logistic",
            parameters=Noise,
            paper=PAPER,
            formula=r"\frac{1}{\tau}\left(f_i + \beta\log\frac{U_i}{1-U_i}\right)",
        ),
        SamplerSpecification(
            name="gaussian",
            summary="normal noise on the scores",
            implementation="rankplug_stochastic.samplers:gaussian",
            parameters=Noise,
            paper=PAPER,
            formula=r"\frac{1}{\tau}\left(f_i + \beta N_i\right)",
        ),
    ]


@hookimpl
def rankplug_studies() -> list[StudySpecification]:
    """Offer the studies."""
    return [
        StudySpecification(
            name="stochastic",
            summary="Gumbel noise on scores: figures 1-4 and table 1, expected losses beside their baselines",
            implementation="rankplug_stochastic.study:study",
            paper=PAPER,
        )
    ]
