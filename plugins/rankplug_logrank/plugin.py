"""Specifications of this package: the losses and the study of LogRank."""

from __future__ import annotations

from typing import Literal

from rankplug import LossSpecification, StudySpecification, hookimpl
from rankplug_logrank.parameters import Likelihood, SumOverRankings

PAPER = "logrank"


def _loss(
    name: str,
    summary: str,
    formula: str,
    convex: bool,
    curvature: Literal["exact", "surrogate"] = "exact",
    parameters: type[SumOverRankings] = SumOverRankings,
) -> LossSpecification:
    return LossSpecification(
        name=name,
        summary=summary,
        implementation=f"rankplug_logrank.losses:{name}",
        parameters=parameters,
        paper=PAPER,
        formula=formula,
        convex=convex,
        curvature=curvature,
        needs=frozenset({"sampled rankings", "binary labels"}),
    )


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        _loss(
            "logrank_mle",
            "raise the likelihood of the ideal ranking (L1)",
            r"L_1 = \log\sum_y e^{-w\cdot\delta\phi(y)},\quad"
            r" w\cdot\delta\phi(y) = \sum_{gb} (1 - y_{gb})(f_g - f_b)",
            convex=True,
            parameters=Likelihood,
        ),
        _loss(
            "exp_gain",
            "raise the expected AUC, average precision or NDCG of rankings drawn by the model",
            r"-\log\sum_y \Pr(y)\,(1 - \Delta(y)),\quad \Pr(y) \propto e^{-w\cdot\delta\phi(y)}",
            convex=False,
            curvature="surrogate",
        ),
        _loss(
            "logrank_l3",
            "raise the likelihood of the ideal ranking and lower the expected distance from it (L3)",
            r"L_1 + \sum_y \Pr(y)\,\Delta(y)",
            convex=True,
        ),
        _loss(
            "convex_loss",
            "lower a convex bound on the distance of the model's ranking from the ideal one (ConvexLoss)",
            r"\log\sum_y e^{\Delta(y) - w\cdot\delta\phi(y)}",
            convex=True,
        ),
        _loss(
            "logrank_l2",
            "lower the expected distance of rankings drawn by the model from the ideal one (Eq. 4 and L2)",
            r"\sum_y \Pr(y)\,\Delta(y),\quad \Pr(y) \propto e^{-w\cdot\delta\phi(y)}",
            convex=False,
            curvature="surrogate",
        ),
        _loss(
            "logrank_exponential",
            "lower the logarithm of the expected e^distance from the ideal ranking (Eq. 5 with f = e^x)",
            r"\log\sum_y \Pr(y)\,e^{\Delta(y)},\quad \Pr(y) \propto e^{-w\cdot\delta\phi(y)}",
            convex=False,
            curvature="surrogate",
        ),
    ]


@hookimpl
def rankplug_studies() -> list[StudySpecification]:
    """Offer the studies."""
    return [
        StudySpecification(
            name="logrank",
            summary="conditional models of rankings: figures 1-8, four losses beside SVM-MAP, RankBoost and RankSVM",
            implementation="rankplug_logrank.study:study",
            paper=PAPER,
        )
    ]
