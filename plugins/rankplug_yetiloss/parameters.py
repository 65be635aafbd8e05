"""Parameters of YetiLoss."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rankplug import Parameters


class YetiLoss(Parameters):
    """Parameters of ``yetiloss``."""

    metric: Literal["ndcg", "map", "mrr", "err"] = Field("ndcg", description="whose weights a pair of neighbours has")
    permutations: int = Field(10, ge=1, description="permutations drawn a list and iteration")
