"""Parameters of PL-Rank."""

from __future__ import annotations

from pydantic import Field

from rankplug import Parameters

NO_CUTOFF = 1 << 40


class PlackettLuceRank(Parameters):
    """Parameters of ``pl_rank``."""

    version: int = Field(3, ge=1, le=3, description="PL-Rank-1, -2 or -3; 2 and 3 are one estimate, 3 is faster")
    samples: int = Field(10, ge=1, description="rankings drawn a list and iteration")
    k: int | None = Field(None, ge=1, description="cut-off of NDCG; none for the whole list")

    @property
    def deepest(self) -> int:
        """The cut-off as a number."""
        return NO_CUTOFF if self.k is None else self.k
