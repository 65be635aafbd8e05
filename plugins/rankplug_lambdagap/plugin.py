"""Specification of this package: the loss ``lambdagap``."""

from __future__ import annotations

from rankplug import LossSpecification, hookimpl
from rankplug_lambdagap.parameters import LambdaGap


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        LossSpecification(
            name="lambdagap",
            summary="logistic pairs of a relevant document and another, k ranks or more apart, for precision at k",
            paper="LambdaGap, Adàlia et al. 2025",
            formula=r"\sum_{y_i \ge 1 > y_j} 1[|r_i - r_j| \ge k] \log(1 + e^{-\sigma (f_i - f_j)})",
            parameters=LambdaGap,
            implementation="rankplug_lambdagap.gap_pairs:lambdagap",
            curvature="exact",
            gradient="lambda",
        )
    ]
