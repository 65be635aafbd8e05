"""Specification of this package: the loss ``pl_rank``."""

from __future__ import annotations

from pydantic import Field

from rankplug import LossSpecification, Parameters, hookimpl

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


@hookimpl
def rankplug_losses() -> list[LossSpecification]:
    """Offer the losses."""
    return [
        LossSpecification(
            name="pl_rank",
            summary="expected NDCG under the Plackett-Luce law of rankings, with an unbiased gradient",
            paper="PL-Rank, Oosterhuis 2021 and 2022",
            formula=r"-\frac1{\mathrm{IDCG}}\,E_{R}\left[\sum_{r \le k} \frac{2^{y_{R_r}} - 1}{\log_2(1 + r)}\right],"
            r"\quad P(R) = \prod_r \frac{e^{f_{R_r}}}{\sum_{s \ge r} e^{f_{R_s}}}",
            parameters=PlackettLuceRank,
            implementation="rankplug_plrank.estimators:pl_rank",
            shift_invariant=False,
            gradient="lambda",
            needs=frozenset({"noise"}),
        )
    ]
