"""Specification of this package: the loss ``lambdagap``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rankplug import LossSpecification, Parameters, hookimpl


class LambdaGap(Parameters):
    """Parameters of ``lambdagap``; the authors' release has LightGBM's defaults, ``k=30,norm=true``."""

    k: int = Field(5, ge=1, description="the cut-off, of precision at k")
    gap: Literal["x", "s"] = Field("x", description="pairs that lie k ranks or more apart (x), or k exactly (s)")
    beside: Literal["nothing", "precision", "arp"] = Field(
        "nothing", description="what else a pair weighs: its exchange in precision at k (the paper's +), or in ARP (++)"
    )
    mu: float = Field(1.0, ge=0, description="weight of the gap beside precision or arp; 1 alone")
    sigma: float = Field(1.0, gt=0, description="steepness of the sigmoids")
    norm: bool = Field(False, description="divide by score gaps and by the size of a list's gradient, as LightGBM may")


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
