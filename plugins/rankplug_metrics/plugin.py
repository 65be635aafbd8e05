"""Specifications of this package: the metrics."""

from __future__ import annotations

from rankplug import MetricSpecification, hookimpl
from rankplug_metrics import parameters


@hookimpl
def rankplug_metrics() -> list[MetricSpecification]:
    """Offer the metrics."""
    return [
        MetricSpecification(
            name="ndcg",
            summary="normalised discounted cumulative gain",
            implementation="rankplug_metrics.ndcg:ndcg",
            parameters=parameters.Gains,
            paper="Jarvelin and Kekalainen, TOIS 2002",
            formula=r"\mathrm{DCG}@k(f) / \mathrm{DCG}@k(y)",
        ),
        MetricSpecification(
            name="dcg",
            summary="discounted cumulative gain",
            implementation="rankplug_metrics.dcg:dcg",
            parameters=parameters.Gains,
            paper="Jarvelin and Kekalainen, TOIS 2002",
            formula=r"\sum_{r=1}^{k} \frac{2^{y_{(r)}} - 1}{\log_2(1 + r)}",
            highest=float("inf"),
        ),
        MetricSpecification(
            name="err",
            summary="expected reciprocal rank",
            implementation="rankplug_metrics.err:err",
            parameters=parameters.ExpectedReciprocalRank,
            paper="Chapelle, Metzler, Zhang and Grinspan, CIKM 2009",
            formula=r"\sum_{r=1}^{k} \frac{1}{r} R_r \prod_{s<r} (1 - R_s),\quad R = (2^y - 1) / 2^{y_{\max}}",
        ),
        MetricSpecification(
            name="map",
            summary="average precision of a query, whose mean is MAP",
            implementation="rankplug_metrics.average_precision:average_precision",
            parameters=parameters.AveragePrecision,
            paper="Buckley and Voorhees, SIGIR 2000",
            formula=r"\frac{1}{n_+} \sum_{i : r_i \le k} i / r_i",
        ),
        MetricSpecification(
            name="mrr",
            summary="reciprocal rank of the first relevant document, whose mean is MRR",
            implementation="rankplug_metrics.reciprocal_rank:reciprocal_rank",
            parameters=parameters.Relevance,
            paper="Voorhees, TREC-8 1999",
            formula=r"1 / r_1",
        ),
        MetricSpecification(
            name="precision",
            summary="share of relevant documents among the first k",
            implementation="rankplug_metrics.precision:precision",
            parameters=parameters.Precision,
            paper="van Rijsbergen, Information Retrieval, 1979",
            formula=r"|\{r \le k : y_{(r)} \ge \theta\}| / k",
        ),
        MetricSpecification(
            name="recall",
            summary="share of the relevant documents that are among the first k",
            implementation="rankplug_metrics.recall:recall",
            parameters=parameters.Relevance,
            paper="van Rijsbergen, Information Retrieval, 1979",
            formula=r"|\{r \le k : y_{(r)} \ge \theta\}| / n_+",
        ),
        MetricSpecification(
            name="auc",
            summary="share of pairs of a relevant and an irrelevant document in the right order",
            implementation="rankplug_metrics.auc:auc",
            parameters=parameters.AreaUnderCurve,
            paper="Hanley and McNeil, Radiology 1982",
            formula=r"\frac{1}{n_+ n_-} \sum_{g, b} [f_g > f_b] + \tfrac{1}{2} [f_g = f_b]",
        ),
        MetricSpecification(
            name="success",
            summary="1 if a relevant document is among the first k, else 0",
            implementation="rankplug_metrics.success:success",
            parameters=parameters.Relevance,
            paper="Craswell and Hawking, TREC 2004",
            formula=r"[\max_{r \le k} y_{(r)} \ge \theta]",
        ),
        MetricSpecification(
            name="rbp",
            summary="rank-biased precision",
            implementation="rankplug_metrics.rank_biased_precision:rank_biased_precision",
            parameters=parameters.RankBiasedPrecision,
            paper="Moffat and Zobel, TOIS 2008",
            formula=r"(1 - p) \sum_{r \le k} p^{r-1} [y_{(r)} \ge \theta]",
        ),
        MetricSpecification(
            name="kendall",
            summary="Kendall's tau-b of scores and labels",
            implementation="rankplug_metrics.correlation.kendall:kendall",
            parameters=parameters.RankCorrelation,
            paper="Kendall, Biometrika 1945",
            formula=r"(C - D) / \sqrt{n_f n_y}",
            lowest=-1.0,
        ),
        MetricSpecification(
            name="spearman",
            summary="Spearman's rank correlation of scores and labels",
            implementation="rankplug_metrics.correlation.spearman:spearman",
            parameters=parameters.RankCorrelation,
            paper="Spearman, American Journal of Psychology 1904",
            formula=r"\mathrm{cor}(\mathrm{rank}(f), \mathrm{rank}(y))",
            lowest=-1.0,
        ),
    ]
