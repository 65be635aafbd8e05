"""Specification of this package: the loss ``yetiloss``."""

from __future__ import annotations

from rankplug import LossSpecification, hookimpl
from rankplug_yetiloss.parameters import YetiLoss


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        LossSpecification(
            name="yetiloss",
            summary="YetiRank whose pairs weigh what a metric changes when the neighbours are exchanged",
            paper="YetiLoss, Lyzhin et al. 2023",
            formula=r"\sum_{y_i > y_j} w_{ij} \log(1 + e^{-(f_i - f_j)}),\quad"
            r" w_{ij} = E\left[\sum_r |\Delta_{ij} M|\, 1[i, j \text{ at } r, r+1]\right]",
            parameters=YetiLoss,
            implementation="rankplug_yetiloss.neighbours:yetiloss",
            curvature="exact",
            gradient="lambda",
            needs=frozenset({"noise"}),
        )
    ]
