"""Specifications of this package: the metrics."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rankplug import MetricParameters, MetricSpecification, RankingMetricParameters, hookimpl
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


@hookimpl
def rankplug_metrics() -> list[MetricSpecification]:
    """Offer the metrics."""
    return [
        MetricSpecification(
            name="ndcg",
            summary="normalised discounted cumulative gain",
            implementation="rankplug_metrics.ranks:ndcg",
            parameters=Gains,
            paper="Jarvelin and Kekalainen, TOIS 2002",
            formula=r"\mathrm{DCG}@k(f) / \mathrm{DCG}@k(y)",
        ),
        MetricSpecification(
            name="dcg",
            summary="discounted cumulative gain",
            implementation="rankplug_metrics.ranks:dcg",
            parameters=Gains,
            paper="Jarvelin and Kekalainen, TOIS 2002",
            formula=r"\sum_{r=1}^{k} \frac{2^{y_{(r)}} - 1}{\log_2(1 + r)}",
            highest=float("inf"),
        ),
        MetricSpecification(
            name="err",
            summary="expected reciprocal rank",
            implementation="rankplug_metrics.ranks:err",
            parameters=ExpectedReciprocalRank,
            paper="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009",
            formula=r"\sum_{r=1}^{k} \frac{1}{r} R_r \prod_{s<r} (1 - R_s),\quad R = (2^y - 1) / 2^{y_{\max}}",
        ),
        MetricSpecification(
            name="map",
            summary="average precision of a query, whose mean is MAP",
            implementation="rankplug_metrics.ranks:average_precision",
            parameters=AveragePrecision,
            paper="Buckley and Voorhees, SIGIR 2000",
            formula=r"\frac{1}{n_+} \sum_{i : r_i \le k} i / r_i",
        ),
        MetricSpecification(
            name="mrr",
            summary="reciprocal rank of the first relevant document, whose mean is MRR",
            implementation="rankplug_metrics.ranks:reciprocal_rank",
            parameters=Relevance,
            paper="Voorhees, TREC-8 1999",
            formula=r"1 / r_1",
        ),
        MetricSpecification(
            name="precision",
            summary="share of relevant documents among the first k",
            implementation="rankplug_metrics.ranks:precision",
            parameters=Precision,
            paper="van Rijsbergen, Information Retrieval, 1979",
            formula=r"|\{r \le k : y_{(r)} \ge \theta\}| / k",
        ),
        MetricSpecification(
            name="recall",
            summary="share of the relevant documents that are among the first k",
            implementation="rankplug_metrics.ranks:recall",
            parameters=Relevance,
            paper="van Rijsbergen, Information Retrieval, 1979",
            formula=r"|\{r \le k : y_{(r)} \ge \theta\}| / n_+",
        ),
        MetricSpecification(
            name="auc",
            summary="share of pairs of a relevant and an irrelevant document in the right order",
            implementation="rankplug_metrics.pairs:auc",
            parameters=AreaUnderCurve,
            paper="Hanley and McNeil, Radiology 1982",
            formula=r"\frac{1}{n_+ n_-} \sum_{g, b} [f_g > f_b] + \tfrac{1}{2} [f_g = f_b]",
        ),
        MetricSpecification(
            name="success",
            summary="1 if a relevant document is among the first k, else 0",
            implementation="rankplug_metrics.ranks:success",
            parameters=Relevance,
            paper="Craswell and Hawking, TREC 2004",
            formula=r"[\max_{r \le k} y_{(r)} \ge \theta]",
        ),
        MetricSpecification(
            name="rbp",
            summary="rank-biased precision",
            implementation="rankplug_metrics.ranks:rank_biased_precision",
            parameters=RankBiasedPrecision,
            paper="Moffat and Zobel, TOIS 2008",
            formula=r"(1 - p) \sum_{r \le k} p^{r-1} [y_{(r)} \ge \theta]",
        ),
        MetricSpecification(
            name="kendall",
            summary="Kendall's tau-b of scores and labels",
            implementation="rankplug_metrics.pairs:kendall",
            parameters=RankCorrelation,
            paper="Kendall, Biometrika 1945",
            formula=r"(C - D) / \sqrt{n_f n_y}",
            lowest=-1.0,
        ),
        MetricSpecification(
            name="spearman",
            summary="Spearman's rank correlation of scores and labels",
            implementation="rankplug_metrics.pairs:spearman",
            parameters=RankCorrelation,
            paper="Spearman, American Journal of Psychology 1904",
            formula=r"\mathrm{cor}(\mathrm{rank}(f), \mathrm{rank}(y))",
            lowest=-1.0,
        ),
    ]
