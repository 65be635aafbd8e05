"""NDCG of many queries, beside ranx, pytrec_eval and scikit-learn.

The peers get their own data structures ready-made; only the evaluation is timed. pytrec_eval and scikit-learn know no
exponential gain, so all are given the gains as labels. Slow peers see the first queries only and their time is scaled
linearly, which the row says. Runs are interleaved, and the median of the rounds is reported.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import rankplug as rp
from rankplug.threads import threads

QUERIES = 30_000
MEDIAN_LENGTH = 105.0
SPREAD_OF_LENGTHS = 0.5
SHARES_OF_LABELS = (0.52, 0.32, 0.13, 0.02, 0.01)


@dataclass(frozen=True)
class Row:
    """One contestant on one metric."""

    metric: str
    contestant: str
    seconds: float
    times_ours: float
    queries_timed: int
    largest_difference: float


def lists_like_mslr(queries: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, labels and starts with the lengths and label shares of MSLR-WEB30K (119 documents a query on average).

    The scores of a list are distinct whole numbers, as trec_eval keeps single precision and orders ties its own way.
    """
    generator = np.random.default_rng(seed)
    drawn = generator.lognormal(np.log(MEDIAN_LENGTH), SPREAD_OF_LENGTHS, queries)
    starts = np.concatenate(([0], np.cumsum(np.clip(drawn.astype(np.int64), 2, 900))))
    labels = generator.choice(len(SHARES_OF_LABELS), size=starts[-1], p=SHARES_OF_LABELS).astype(np.float64)
    query = np.repeat(np.arange(queries), np.diff(starts))
    scores = np.empty(starts[-1])
    scores[np.lexsort((labels + generator.normal(0, 2, starts[-1]), query))] = np.arange(starts[-1]) - starts[query]
    return scores, labels, starts


def ranx_contestant(scores, gains, starts, cutoff: int | None) -> Callable[[], np.ndarray]:
    """What ranx does: numba on typed dictionaries, all threads."""
    from numba.core.errors import NumbaTypeSafetyWarning
    from ranx import Qrels, Run
    from ranx import evaluate as ranx_evaluate

    relevance, retrieved = trec_dictionaries(scores, gains, starts)
    warnings.filterwarnings("ignore", category=NumbaTypeSafetyWarning)
    qrels, run = Qrels(relevance), Run(retrieved)
    name = "ndcg" if cutoff is None else f"ndcg@{cutoff}"
    return lambda: np.asarray(ranx_evaluate(qrels, run, name, return_mean=False, make_comparable=False))


def pytrec_eval_contestant(scores, gains, starts, cutoff: int | None) -> Callable[[], np.ndarray]:
    """pytrec_eval: NIST's trec_eval in C behind Python dictionaries."""
    import pytrec_eval

    relevance, retrieved = trec_dictionaries(scores, gains, starts)
    name = "ndcg" if cutoff is None else f"ndcg_cut_{cutoff}"
    wanted = "ndcg" if cutoff is None else f"ndcg_cut.{cutoff}"
    names = list(relevance)

    def run() -> np.ndarray:
        found = pytrec_eval.RelevanceEvaluator(relevance, {wanted}).evaluate(retrieved)
        return np.array(
            [found[query][name] if gained else np.nan for query, gained in zip(names, any_gain, strict=True)]
        )

    any_gain = np.add.reduceat(gains, starts[:-1]) > 0
    return run


def sklearn_contestant(scores, gains, starts, cutoff: int | None) -> Callable[[], np.ndarray]:
    """scikit-learn's ndcg_score in a loop over the queries."""
    from sklearn.metrics import ndcg_score

    spans = [slice(begin, end) for begin, end in itertools.pairwise(starts)]

    def run() -> np.ndarray:
        return np.array([ndcg_score(gains[None, span], scores[None, span], k=cutoff) for span in spans])

    return run


def trec_dictionaries(scores, gains, starts) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgements and scores as TREC tools hold them."""
    relevance, retrieved = {}, {}
    for query, (begin, end) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
        documents = [f"d{document}" for document in range(end - begin)]
        relevance[f"q{query:06d}"] = dict(zip(documents, gains[begin:end].astype(int).tolist(), strict=True))
        retrieved[f"q{query:06d}"] = dict(zip(documents, scores[begin:end].tolist(), strict=True))
    return relevance, retrieved


CONTESTANTS: dict[str, tuple[Callable[..., Callable[[], np.ndarray]], int]] = {
    "ranx": (ranx_contestant, 10),
    "pytrec_eval": (pytrec_eval_contestant, 10),
    "scikit-learn loop": (sklearn_contestant, 60),
}
"""Each with the factor by which its share of the queries is smaller than ours."""


def measure(
    queries: int = QUERIES, rounds: int = 5, cutoffs: tuple[int | None, ...] = (10, None)
) -> list[dict[str, Any]]:
    """Seconds for all queries, how many times ours that is, and the largest difference of a query's value."""
    scores, labels, starts = lists_like_mslr(queries)
    gains = 2.0**labels - 1.0
    return [row for cutoff in cutoffs for row in _measure_one(cutoff, scores, gains, starts, rounds)]


def _measure_one(cutoff: int | None, scores, gains, starts, rounds: int) -> list[dict[str, Any]]:
    queries = starts.size - 1
    metric = rp.metric(f"ndcg[k={'none' if cutoff is None else cutoff},gain=linear]")
    runs, timed_on = {"rankplug": lambda: metric(scores, gains, starts)}, {"rankplug": queries}
    for name, (build, fraction) in CONTESTANTS.items():
        share = timed_on[name] = max(2, queries // fraction)
        part = slice(0, starts[share])
        runs[name] = build(scores[part], gains[part], starts[: share + 1], cutoff)
    values = {name: run() for name, run in runs.items()}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            seconds[name].append((time.perf_counter() - begin) * queries / timed_on[name])
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    return [
        asdict(
            Row(
                metric=str(metric),
                contestant=name,
                seconds=medians[name],
                times_ours=medians[name] / medians["rankplug"],
                queries_timed=timed_on[name],
                largest_difference=float(np.nanmax(np.abs(values[name] - values["rankplug"][: timed_on[name]]))),
            )
        )
        for name in runs
    ]


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--queries", type=int, default=QUERIES)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    print(f"{given.queries:,} queries, {threads()} threads")
    print(f"{'metric':24}{'contestant':20}{'seconds':>10}{'times ours':>12}{'largest difference':>20}  timed on")
    for row in measure(given.queries, given.rounds):
        scaled = f"{row['queries_timed']:,} queries" + (", scaled" if row["queries_timed"] < given.queries else "")
        print(
            f"{row['metric']:24}{row['contestant']:20}{row['seconds']:>10.4f}{row['times_ours']:>12.1f}"
            f"{row['largest_difference']:>20.1e}  {scaled}"
        )


if __name__ == "__main__":
    main()
