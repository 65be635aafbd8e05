"""Specification of this package: the loss ``yetiloss``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rankplug import LossSpecification, Parameters, hookimpl


class YetiLoss(Parameters):
    """Parameters of ``yetiloss``."""

    metric: Literal["ndcg", "map", "mrr", "err"] = Field("ndcg", description="whose weights a pair of neighbours has")
    permutations: int = Field(10, ge=1, description="permutations drawn a list and iteration")


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        LossSpecification(
            name="yetiloss",
            summary="YetiRank with the released YetiLoss's weights for NDCG (here with gains 2^y - 1), MAP, MRR or ERR",
            paper="YetiLoss, Lyzhin et al. 2023",
            formula=r"\sum_{y_i > y_j} w_{ij} \log(1 + e^{-(f_i - f_j)}),\quad"
            r" w_{ij} = E\left[\sum_r w_M(r, y_i, y_j)\, 1[i, j \text{ at } r, r+1]\right]",
            parameters=YetiLoss,
            implementation="rankplug_yetiloss.neighbours:yetiloss",
            curvature="exact",
            gradient="lambda",
            needs=frozenset({"noise"}),
        )
    ]
