"""Specification of this package: the loss ``pl_rank``."""

from __future__ import annotations

from rankplug import LossSpecification, hookimpl
from rankplug_plrank.parameters import PlackettLuceRank


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
