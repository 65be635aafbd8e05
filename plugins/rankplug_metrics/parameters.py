"""The conventions of each metric; those that all share are in :mod:`rankplug.metrics.metric_parameters`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rankplug import MetricParameters, RankingMetricParameters
from rankplug.errors import DataError

LARGEST_EXPONENT = 1000
"""Largest label whose exponential gain, summed over a list, a float64 can hold."""


def _check_exponents(labels, name: str, advice: str) -> None:
    if labels.size and labels.max() > LARGEST_EXPONENT:
        raise DataError(
            f"{name}: a label is {labels.max():g}, and the gain 2^label - 1 overflows above {LARGEST_EXPONENT};"
            f" {advice}"
        )


class Gains(RankingMetricParameters):
    """Parameters of ``dcg`` and ``ndcg``."""

    gain: Literal["exponential", "linear"] = Field("exponential", description="2^label - 1, or the label")
    discount: Literal["log2", "jk"] = Field(
        "log2", description="1 / log2(1 + rank), or jk: 1 for ranks 1 and 2, then 1 / log2(rank) (LETOR 3.0)"
    )

    def check_labels(self, labels):
        if self.gain == "exponential":
            _check_exponents(labels, "exponential gain", "use gain=linear or fewer grades")


class ExpectedReciprocalRank(RankingMetricParameters):
    """Parameters of ``err``."""

    ymax: Literal["query"] | Annotated[float, Field(gt=0)] = Field(
        "query", description="largest label: that of each query, or a number, such as 4 for MSLR and Yahoo"
    )

    @property
    def largest_label(self) -> float:
        """The largest label, or -1 for each query's own."""
        return -1.0 if self.ymax == "query" else float(self.ymax)

    def check_labels(self, labels):
        if self.ymax != "query" and labels.size and labels.max() > self.ymax:
            raise DataError(
                f"metric err: a label is {labels.max():g}, above ymax={self.ymax:g}; raise ymax or say ymax=query"
            )
        _check_exponents(labels, "metric err", "use fewer grades")


class Relevance(RankingMetricParameters):
    """Parameters of ``mrr``, ``recall`` and ``success``, which know relevant documents and others."""

    threshold: float = Field(1.0, gt=0, description="smallest label of a relevant document")


class AveragePrecision(Relevance):
    """Parameters of ``map``."""

    divide_by: Literal["relevant", "reachable"] = Field(
        "relevant", description="the relevant documents (TREC), or as many as k can hold (LightGBM, XGBoost)"
    )

    @property
    def divides_by_reachable(self) -> bool:
        """Tell whether relevant documents that k cannot hold are left out of the divisor."""
        return self.divide_by == "reachable"


class Precision(Relevance):
    """Parameters of ``precision``."""

    divide_by: Literal["k", "documents"] = Field(
        "k", description="of a list shorter than k: k all the same (TREC, LETOR), or the documents there are"
    )

    @property
    def places(self) -> int:
        """The divisor, or 0 for the documents there are."""
        return 0 if self.k is None or self.divide_by == "documents" else self.k


class AreaUnderCurve(MetricParameters):
    """Parameters of ``auc``."""

    threshold: float = Field(1.0, gt=0, description="smallest label of a relevant document")
    ties: Literal["half", "stable", "worst", "random"] = Field(
        "half", description="what a tied pair counts: one half, or as the order of equal scores has it"
    )
    tie_seed: int = Field(0, ge=0, description="seed of the random order of equal scores")

    @property
    def ties_count_half(self) -> bool:
        """Tell whether a tied pair counts one half."""
        return self.ties == "half"


class RankBiasedPrecision(Relevance):
    """Parameters of ``rbp``."""

    p: float = Field(0.8, gt=0, lt=1, description="probability that a reader goes on to the next rank")


class RankCorrelation(MetricParameters):
    """Parameters of ``kendall`` and ``spearman``."""

    tied_scores: Literal["zero", "undefined"] = Field(
        "zero", description="value of a list whose scores are all equal and its labels are not: zero, or none (SciPy)"
    )

    @property
    def undefined_for_tied_scores(self) -> bool:
        """Tell whether a list whose scores are all equal has no value."""
        return self.tied_scores == "undefined"

    @property
    def ties(self) -> str:
        """Return the order in which tied documents are counted, which changes no value."""
        return "worst"
