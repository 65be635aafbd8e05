"""Parameters of StochasticRank."""

from __future__ import annotations

from pydantic import Field

from rankplug import Parameters

NO_CUTOFF = 1 << 40


class StochasticRank(Parameters):
    """Parameters of ``stochastic_rank``."""

    sigma: float = Field(1.0, gt=0, description="standard deviation of the noise on each score")
    samples: int = Field(1, ge=1, description="noisy score vectors drawn a list and iteration")
    k: int | None = Field(None, ge=1, description="cut-off of NDCG; none for the whole list")

    @property
    def deepest(self) -> int:
        """The cut-off as a number."""
        return NO_CUTOFF if self.k is None else self.k
