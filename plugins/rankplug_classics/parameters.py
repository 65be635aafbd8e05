"""Parameters of the classic losses."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rankplug import PaddedParameters, Parameters

NO_CUTOFF = 1 << 40


class MeanSquaredError(PaddedParameters):
    """Parameters of ``mse``; one probe of the hutchinson curvature is exact here, as documents do not interact."""

    curvature: Literal["ones", "hutchinson", "diagonal"] = Field("hutchinson", description="for boosting")


class BoltzRank(PaddedParameters):
    """Parameters of ``boltzrank``."""

    rankings: int = Field(50, ge=1, description="rankings drawn around the labels in each iteration")
    expected_gain: float = Field(0.5, ge=0, le=1, description="share of the expected NDCG, the rest is cross entropy")
    temperature: float = Field(1.0, gt=0, description="of the labels' own law of rankings")


class RankNet(Parameters):
    """Parameters of ``ranknet``."""

    sigma: float = Field(1.0, gt=0, description="steepness of the sigmoid")
    mean: bool = Field(False, description="divide each list by the number of its pairs")


class RankSVM(Parameters):
    """Parameters of ``ranksvm``."""

    margin: float = Field(1.0, ge=0, description="gap of scores from which on a pair costs nothing")
    squared: bool = Field(False, description="the square of the hinge, which has a derivative everywhere")


class RankBoost(Parameters):
    """Parameters of ``rankboost``."""

    pairs: Literal["all", "list"] = Field(
        "all", description="one law over the pairs of all lists, as Freund's, or one of equal weight within each list"
    )


class Fidelity(Parameters):
    """Parameters of ``fidelity``."""

    mean: bool = Field(True, description="divide each list by the number of its pairs")


class AdaRank(Parameters):
    """Parameters of ``adarank``."""

    measure: Literal["map", "ndcg"] = Field("map", description="what the exponential is of; labels of 1 count for map")
    at: int | None = Field(None, ge=1, description="cut-off of ndcg; none: the whole list")
    discount: Literal["log2", "jk"] = Field("log2", description="of ndcg's ranks; jk: 1 for the first two, as in LETOR")

    @property
    def places(self) -> int:
        """The cut-off, as a number."""
        return NO_CUTOFF if self.at is None else self.at


class ListMLE(Parameters):
    """Parameters of ``listmle``."""

    ties: Literal["shuffled", "stable"] = Field("shuffled", description="order of equal labels, anew each iteration")


class PositionAwareListMLE(ListMLE):
    """Parameters of ``p_listmle``."""

    alpha: Literal["scaled", "raw"] = Field("scaled", description="weights (2^(n-i) - 1) / 2^n, or without the divisor")


class LambdaLoss(Parameters):
    """Parameters of ``lambdaloss``."""

    variant: Literal["ndcg1", "ndcg2", "ndcg2pp"] = Field("ndcg2pp", description="which bound of NDCG")
    mu: float = Field(10.0, ge=0, description="share of the NDCG-Loss2 weights in ndcg2pp")
    sigma: float = Field(1.0, gt=0, description="steepness of the sigmoid")


class MDPRank(Parameters):
    """Parameters of ``mdprank``."""

    episodes: int = Field(1, ge=1, description="episodes drawn a list and iteration")
    discount: float = Field(1.0, ge=0, le=1, description="of later rewards, gamma")


class SoftRank(Parameters):
    """Parameters of ``softrank``."""

    sigma: float = Field(1.0, gt=0, description="standard deviation of the noise on each score")
    k: int | None = Field(None, ge=1, description="cut-off of NDCG; none for the whole list")

    @property
    def deepest(self) -> int:
        """The cut-off as a number."""
        return NO_CUTOFF if self.k is None else self.k


class SoftSpearman(Parameters):
    """Parameters of ``soft_spearman``."""

    epsilon: float = Field(1.0, gt=0, description="regularisation; ranks are hard where it goes to 0")


class YetiRank(Parameters):
    """Parameters of ``yetirank``."""

    permutations: int = Field(10, ge=1, description="permutations drawn a list and iteration")
    position_weight: Literal["geometric", "reciprocal"] = Field("geometric", description="decay^(r-1), or 1 / r")
    decay: float = Field(0.85, gt=0, le=1, description="of geometric position weights")
