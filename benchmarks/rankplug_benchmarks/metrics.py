"""NDCG of many queries, beside ranx, pytrec_eval, ir-measures, polars and scikit-learn.

The peers get their own data structures ready-made; only the evaluation is timed. pytrec_eval and scikit-learn know no
exponential gain, so all are given the gains as labels. Slow peers see the first queries only and their time is scaled
linearly, which the row says. That all find the same values is tested.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator

import numpy as np

import rankplug as rp
from rankplug.system import use_threads
from rankplug_benchmarks.harness.measurements import Measurement, at_least, measured
from rankplug_benchmarks.harness.rounds import by_turns
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.mslr_shape import lists_like_mslr

QUERIES = 30_000
CUTOFFS = (10, None)


def ranx_contestant(scores, gains, starts, cutoff: int | None) -> Callable[[], np.ndarray]:
    """Return a call of ranx: numba on typed dictionaries, all threads."""
    from numba.core.errors import NumbaTypeSafetyWarning
    from ranx import Qrels, Run
    from ranx import evaluate as ranx_evaluate

    relevance, retrieved = trec_dictionaries(scores, gains, starts)
    warnings.filterwarnings("ignore", category=NumbaTypeSafetyWarning)
    qrels, run = Qrels(relevance), Run(retrieved)
    name = "ndcg" if cutoff is None else f"ndcg@{cutoff}"
    return lambda: np.asarray(ranx_evaluate(qrels, run, name, return_mean=False, make_comparable=False))


def pytrec_eval_contestant(scores, gains, starts, cutoff: int | None) -> Callable[[], np.ndarray]:
    """Return a call of pytrec_eval: NIST's trec_eval in C behind Python dictionaries."""
    import pytrec_eval

    relevance, retrieved = trec_dictionaries(scores, gains, starts)
    name = "ndcg" if cutoff is None else f"ndcg_cut_{cutoff}"
    wanted = "ndcg" if cutoff is None else f"ndcg_cut.{cutoff}"
    names = list(relevance)
    evaluator = pytrec_eval.RelevanceEvaluator(relevance, {wanted})

    def run() -> np.ndarray:
        found = evaluator.evaluate(retrieved)
        return np.array(
            [found[query][name] if gained else np.nan for query, gained in zip(names, any_gain, strict=True)]
        )

    any_gain = np.add.reduceat(gains, starts[:-1]) > 0
    return run


def ir_measures_contestant(scores, gains, starts, cutoff: int | None) -> Callable[[], np.ndarray]:
    """Return a call of ir-measures: one way to call many evaluators, for NDCG pytrec_eval."""
    import ir_measures

    relevance, retrieved = trec_dictionaries(scores, gains, starts)
    measure = ir_measures.nDCG if cutoff is None else ir_measures.nDCG @ cutoff
    any_gain = np.add.reduceat(gains, starts[:-1]) > 0

    def run() -> np.ndarray:
        found = {result.query_id: result.value for result in ir_measures.iter_calc([measure], relevance, retrieved)}
        return np.array([found[query] if gained else np.nan for query, gained in zip(relevance, any_gain, strict=True)])

    return run


def polars_contestant(scores, gains, starts, cutoff: int | None) -> Callable[[], np.ndarray]:
    """Return a call of polars: ranks, discounts and sums grouped by query, as an analyst writes it, on all threads."""
    import polars as pl

    frame = pl.DataFrame(
        {"query": np.repeat(np.arange(starts.size - 1), np.diff(starts)), "score": scores, "gain": gains}
    )
    last = frame.height if cutoff is None else cutoff

    def dcg(by: str) -> pl.Expr:
        rank = pl.col(by).rank("ordinal", descending=True)
        return (pl.col("gain") / (1.0 + rank).log(2.0)).filter(rank <= last).sum()

    asked = (
        frame.lazy().group_by("query", maintain_order=True).agg(dcg("score").alias("dcg"), dcg("gain").alias("ideal"))
    )

    def run() -> np.ndarray:
        found = asked.collect()
        ideal = found["ideal"].to_numpy()
        return np.divide(found["dcg"].to_numpy(), ideal, out=np.full(ideal.size, np.nan), where=ideal > 0)

    return run


def sklearn_contestant(scores, gains, starts, cutoff: int | None) -> Callable[[], np.ndarray]:
    """Return a call of scikit-learn's ndcg_score in a loop over the queries."""
    from sklearn.metrics import ndcg_score

    spans = [slice(begin, end) for begin, end in itertools.pairwise(starts)]

    def run() -> np.ndarray:
        return np.array([ndcg_score(gains[None, span], scores[None, span], k=cutoff) for span in spans])

    return run


def trec_dictionaries(scores, gains, starts) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgements and scores as TREC tools hold them."""
    relevance, retrieved = {}, {}
    for query, (begin, end) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
        documents = [f"d{document}" for document in range(end - begin)]
        relevance[f"q{query:06d}"] = dict(zip(documents, gains[begin:end].astype(int).tolist(), strict=True))
        retrieved[f"q{query:06d}"] = dict(zip(documents, scores[begin:end].tolist(), strict=True))
    return relevance, retrieved


CONTESTANTS: dict[str, tuple[Callable[..., Callable[[], np.ndarray]], int, float | None]] = {
    "ranx": (ranx_contestant, 10, 40),
    "pytrec_eval": (pytrec_eval_contestant, 10, 40),
    "ir-measures": (ir_measures_contestant, 10, None),
    "polars": (polars_contestant, 1, None),
    "scikit-learn loop": (sklearn_contestant, 60, 400),
}
"""Each with the factor by which its share of the queries is smaller than ours, and how much slower it is to be."""


class Contest:
    """All contestants on one metric.

    Args:
        queries: ours evaluates.
        cutoff: of NDCG; none for the whole list.
    """

    def __init__(self, queries: int, cutoff: int | None) -> None:
        scores, labels, starts = lists_like_mslr(queries)
        gains = 2.0**labels - 1.0
        self.metric = rp.metric(f"ndcg[k={'none' if cutoff is None else cutoff},gain=linear]")
        self.scale = {"rankplug": 1.0}
        self.runs: dict[str, Callable[[], np.ndarray]] = {"rankplug": lambda: self.metric(scores, gains, starts)}
        for name, (build, fraction, _) in CONTESTANTS.items():
            share = max(2, queries // fraction)
            part = slice(0, starts[share])
            self.scale[name] = queries / share
            self.runs[name] = build(scores[part], gains[part], starts[: share + 1], cutoff)

    def largest_difference(self, name: str) -> float:
        """Return the largest difference between a contestant's value of a query and ours."""
        theirs = self.runs[name]()
        return float(np.nanmax(np.abs(theirs - self.runs["rankplug"]()[: theirs.size])))


def measure(effort: Effort) -> Iterator[Measurement]:
    """Measure on one thread and on all."""
    queries = effort.size(QUERIES, 240)
    for cutoff, threads in itertools.product(CUTOFFS, effort.threads):
        with use_threads(threads):
            contest = Contest(queries, cutoff)
            rounds = by_turns(contest.runs, effort.rounds, yardstick="pytrec_eval")
        for name, (_, _, limit) in CONTESTANTS.items():
            yield measured(
                f"NDCG{'' if cutoff is None else f'@{cutoff}'} of {queries:,} queries: {name} over ours",
                rounds,
                lambda seconds, name=name, scale=contest.scale: seconds[name] * scale[name] / seconds["rankplug"],
                threads=threads,
                target=at_least(limit) if limit and threads == max(effort.threads) else None,
                note=f"timed on 1 of {contest.scale[name]:g} queries",
            )
