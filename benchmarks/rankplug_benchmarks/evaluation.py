"""NDCG of many queries beside other evaluators, and prediction of few documents beside the engine's own."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterable, Iterator

import numpy as np

import rankplug as rp
from rankplug.system import available_cores, use_threads
from rankplug_benchmarks.mslr_shape import ragged_lengths, scores_labels_starts
from rankplug_benchmarks.rounds import Row, SelfTimed, interleave, ratio_row, value_row

Evaluation = Callable[[], np.ndarray]


def dictionaries(scores: np.ndarray, gains: np.ndarray, starts: np.ndarray) -> tuple[dict, dict]:
    """Return judgements and scores as nested dictionaries, the form of TREC tools."""
    relevance, retrieved = {}, {}
    for query, (begin, end) in enumerate(itertools.pairwise(starts.tolist())):
        documents = [f"d{document}" for document in range(end - begin)]
        relevance[f"q{query:06d}"] = dict(zip(documents, gains[begin:end].astype(int).tolist(), strict=True))
        retrieved[f"q{query:06d}"] = dict(zip(documents, scores[begin:end].tolist(), strict=True))
    return relevance, retrieved


def ranx_ndcg(scores: np.ndarray, gains: np.ndarray, starts: np.ndarray) -> Evaluation:
    """Return a call of ranx, which uses numba on all threads."""
    from numba.core.errors import NumbaTypeSafetyWarning
    from ranx import Qrels, Run, evaluate

    warnings.filterwarnings("ignore", category=NumbaTypeSafetyWarning)
    relevance, retrieved = dictionaries(scores, gains, starts)
    qrels, run = Qrels(relevance), Run(retrieved)
    return lambda: np.asarray(evaluate(qrels, run, "ndcg@10", return_mean=False, make_comparable=False))


def pytrec_eval_ndcg(scores: np.ndarray, gains: np.ndarray, starts: np.ndarray) -> Evaluation:
    """Return a call of pytrec_eval, which wraps NIST's trec_eval."""
    import pytrec_eval

    relevance, retrieved = dictionaries(scores, gains, starts)
    evaluator = pytrec_eval.RelevanceEvaluator(relevance, {"ndcg_cut.10"})
    return lambda: np.array([values["ndcg_cut_10"] for values in evaluator.evaluate(retrieved).values()])


def sklearn_ndcg(scores: np.ndarray, gains: np.ndarray, starts: np.ndarray) -> Evaluation:
    """Return a loop over scikit-learn's ndcg_score."""
    from sklearn.metrics import ndcg_score

    spans = [slice(begin, end) for begin, end in itertools.pairwise(starts)]
    return lambda: np.array([ndcg_score(gains[None, span], scores[None, span], k=10) for span in spans])


PEERS = {
    "ranx": (ranx_ndcg, 10, 40),
    "pytrec_eval": (pytrec_eval_ndcg, 10, 40),
    "scikit-learn": (sklearn_ndcg, 60, 400),
}
"""Peers, the share of the queries they see (their time is scaled linearly), and how much slower they should be."""


def evaluations(queries: int, peers: Iterable[str] = PEERS) -> dict[str, tuple[Evaluation, float]]:
    """Return calls of ours and of peers with the factor that scales their time to all queries."""
    scores, labels, starts = scores_labels_starts(ragged_lengths(queries))
    gains = 2.0**labels - 1.0  # the peers' gain is the label itself
    metric = rp.metric("ndcg@10[gain=linear]")
    calls: dict[str, tuple[Evaluation, float]] = {"ours": (lambda: metric(scores, gains, starts), 1.0)}
    for name in peers:
        build, share, _ = PEERS[name]
        count = max(2, queries // share)
        part = slice(0, starts[count])
        calls[name] = (build(scores[part], gains[part], starts[: count + 1]), queries / count)
    return calls


def measure_evaluators(threads: int, rounds: int, quick: bool) -> Iterator[Row]:
    """Measure NDCG@10."""
    queries = 240 if quick else 30_000
    calls = evaluations(queries)

    def scaled(call: Evaluation, factor: float) -> SelfTimed:
        def run() -> float:
            begin = time.perf_counter()
            call()
            return (time.perf_counter() - begin) * factor

        return SelfTimed(run)

    timings = interleave({name: scaled(*call) for name, call in calls.items()}, rounds)
    everything = threads == available_cores()
    for name, (_, share, limit) in PEERS.items():
        what = f"NDCG@10 of {queries:,} queries: {name} over ours (timed on 1 of {share} queries)"
        target, headline = (limit, name != "ranx") if everything else (None, False)
        yield ratio_row(what, timings, name, "ours", threads=threads, at_least=target, headline=headline)


def measure_serving(threads: int, rounds: int, quick: bool) -> Iterator[Row]:
    """Measure the median time of one prediction with 100 trees."""
    split = rp.load(f"synthetic[queries={20 if quick else 300}]")
    scorer = "trees[rounds=100,leaves=31,feature_fraction=1]"
    model = rp.fit("lightgbm", scorer=scorer, loss="lambdarank", train=split.train, train_curve=False, progress=False)
    compiled, features = model.compile(), np.tile(split.test.features, (3, 1))
    for documents in (1, 100, 1000):
        rows = np.ascontiguousarray(features[:documents])
        ways: dict[str, Callable[[], object]] = {
            "ours": lambda rows=rows: compiled.predict(rows),
            "Booster.predict": lambda rows=rows: model.booster.predict(rows, raw_score=True, num_threads=threads),
        }
        timings = interleave(ways, 4 * rounds)
        what = f"{documents:,} documents, 100 trees: Booster.predict over model.compile()"
        limit, headline = (2, threads == 1) if documents == 100 else (None, False)
        yield ratio_row(what, timings, "Booster.predict", "ours", threads=threads, at_least=limit, headline=headline)
        values = [1e6 * seconds for seconds in timings.seconds["ours"]]
        yield value_row(f"{documents:,} documents, 100 trees: model.compile()", values, threads=threads, unit="µs")


def measure(rounds: int, quick: bool) -> Iterator[Row]:
    """Measure on one thread and on all."""
    for threads in sorted({1, available_cores()}):
        with use_threads(threads):
            yield from measure_evaluators(threads, rounds, quick)
            yield from measure_serving(threads, rounds, quick)
