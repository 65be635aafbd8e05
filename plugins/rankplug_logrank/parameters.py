"""Parameters of the losses: how rankings are drawn, and over which rankings a loss sums."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field, model_validator

from rankplug import Parameters


class RankingSet(Parameters):
    """Parameters of the drawn rankings; the paper leaves samples, walk, smooth and k open."""

    gain: Literal["auc", "map", "ndcg"] = Field("auc", description="measures how far a ranking is from the ideal one")
    k: int = Field(10, ge=1, description="cut-off of ndcg")
    discount: Literal["jk", "log2"] = Field("jk", description="of ndcg: 1, 1, 1/log2(rank)... or 1/log2(1 + rank)")
    samples: int = Field(200, ge=1, description="rankings drawn for each list")
    walk: int = Field(20, ge=0, description="flips after each restart")
    p_best: float = Field(0.9, ge=0, le=1, description="share of restarts at the best ranking, the rest at the worst")
    skew: float | None = Field(None, description="restart at any distance instead, with odds exp(skew * distance)")
    restart_at: float | None = Field(None, ge=0, le=1, description="restart at random rankings near this distance only")
    smooth: float = Field(1.0, gt=0, description="added to the tendency of each flip; 0 would never leave a restart")
    branch: Literal["symmetric", "local"] = Field("symmetric", description="tendency of flips towards the ideal")
    distinct: bool = Field(True, description="keep each ranking once")

    @property
    def odds_of_distance(self) -> float:
        """The skew; not a number where restarts are the best and the worst ranking."""
        return math.nan if self.skew is None else self.skew

    @property
    def only_distance(self) -> float:
        """The distance of all restarts, or not a number."""
        return math.nan if self.restart_at is None else self.restart_at

    @model_validator(mode="after")
    def _has_one_way_to_restart(self) -> RankingSet:
        if self.skew is not None and self.restart_at is not None:
            raise ValueError("skew and restart_at both say where walks restart; give one of them")
        return self


class SumOverRankings(RankingSet):
    """The set a loss sums over: all sign matrices by a closed form, or rankings drawn before training."""

    rankings: Literal["closed", "sampled"] | None = Field(None, description="none: closed where there is a closed form")
    divide_by_pairs: bool = Field(False, description="divide scores by the number of good and bad pairs")

    @property
    def closed(self) -> bool:
        """Tell whether the closed form is used."""
        return self.rankings == "closed" or (self.rankings is None and self.gain == "auc")

    @model_validator(mode="after")
    def _has_a_closed_form(self) -> SumOverRankings:
        if self.rankings == "closed" and self.gain != "auc":
            raise ValueError(f"rankings=closed needs gain=auc; there is no closed form for gain={self.gain}")
        return self


class Likelihood(SumOverRankings):
    """Parameters of ``logrank_mle``; ``gain`` matters only where ``skew`` chooses restarts by distance."""

    @property
    def closed(self) -> bool:
        """Tell whether the closed form is used."""
        return self.rankings != "sampled"

    @model_validator(mode="after")
    def _has_a_closed_form(self) -> Likelihood:
        return self
