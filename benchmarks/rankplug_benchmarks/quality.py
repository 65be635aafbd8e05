"""Held-out NDCG@10 for the seconds and the trees it took, for every family of models.

Every contestant trains once for each seed with fixed, untuned settings, and is measured on held-out lists after each
iteration; the time of measuring is not counted. Curves are the medians over the seeds. Made data have the shape of
MSLR-WEB10K, cut to a size at which all families train in minutes; MQ2008 (fold 1) takes part where ``RANKPLUG_DATA``
has it. CatBoost's YetiRank and the engines' own objectives are trained beside ours.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import rankplug as rp
from rankplug.data import Split
from rankplug.errors import RankplugError
from rankplug.system import threads
from rankplug_benchmarks.harness.measurements import Curve, Measurement, repeated
from rankplug_benchmarks.harness.subjects import Effort

METRIC = "ndcg@10"
TREES = 60
LEAVES = 31
LEARNING_RATE = 0.1
QUERIES = 500
SEEDS = 3
PLACES = 12
"""Times at which the curves over seconds are read."""

Path = list[tuple[float, float]]
"""Seconds of training so far and NDCG, after each iteration."""


@dataclass(frozen=True)
class Family:
    """A contestant that rankplug trains.

    Args:
        backend: with its parameters.
        scorer: with its parameters.
        loss: with its parameters.
        sampler: none for the plain loss.
        trees: whether an iteration is a tree.
    """

    backend: str
    scorer: str
    loss: str
    sampler: str | None = None
    trees: bool = False


def families(effort: Effort) -> dict[str, Family]:
    """Return all contestants of ours, and the engines' own objectives."""
    rounds = effort.size(TREES, 3)
    settings = f"leaves={LEAVES},learning_rate={LEARNING_RATE},rounds={rounds},min_data=20,l2=0,feature_fraction=1"
    trees = f"trees[{settings}]"
    # A tenth of a tiny set would be no query at all.
    few_queries = f"trees[{settings},query_bagging={0.9 if effort.quick else 0.1}]"
    epochs = effort.size(20, 2)
    torch = f"torch[epochs={epochs},lr=0.003,batch=32,l2=0,schedule=constant,scaling=none]"
    mlp = "mlp[layers=(64,32),input_batch_norm=true]"
    lbfgs = f"lbfgs[iterations={epochs},C=1,restarts=0,scaling=none]"
    return {
        "lightgbm lambdarank": Family("lightgbm", trees, "lambdarank[norm=true]", trees=True),
        "lightgbm lambdarank, native": Family("lightgbm[native=true]", trees, "lambdarank[norm=true]", trees=True),
        "lightgbm lambdarank, few queries a tree": Family("lightgbm", few_queries, "lambdarank[norm=true]", trees=True),
        "lightgbm lambdarank, native, few queries a tree": Family(
            "lightgbm[native=true]", few_queries, "lambdarank[norm=true]", trees=True
        ),
        "lightgbm xe_ndcg": Family("lightgbm", trees, "xe_ndcg", trees=True),
        "lightgbm E[lambdarank]": Family("lightgbm", trees, "lambdarank", "gumbel[beta=0.25,samples=8]", True),
        "lightgbm umart": Family("lightgbm", trees, "umart", trees=True),
        "lightgbm yetirank": Family("lightgbm", trees, "yetirank", trees=True),
        "lightgbm linear leaves": Family("lightgbm", f"trees[{settings},linear_tree=true]", "xe_ndcg", trees=True),
        "xgboost lambdarank": Family("xgboost", trees, "lambdarank", trees=True),
        "xgboost lambdarank, few queries a tree": Family("xgboost", few_queries, "lambdarank", trees=True),
        "xgboost lambdarank, native": Family("xgboost[native=true]", trees, "lambdarank", trees=True),
        "rankboost": Family("rankboost", f"stumps[rounds={rounds}]", "rankboost[pairs=list]"),
        "torch mlp approx_ndcg": Family(torch, mlp, "approx_ndcg"),
        "torch mlp E[approx_ndcg]": Family(torch, mlp, "approx_ndcg", "gumbel[samples=8]"),
        "torch mlp xe_ndcg": Family(torch, mlp, "xe_ndcg"),
        "torch mlp urank": Family(torch, mlp, "urank"),
        "torch linear cross_entropy": Family(torch, "linear", "cross_entropy"),
        "torch attention xe_ndcg": Family(torch, "attention", "xe_ndcg"),
        "lbfgs linear xe_ndcg": Family(lbfgs, "linear", "xe_ndcg[gamma=once]"),
    }


def follow(family: Family, split: Split, seed: int) -> Path:
    """Record the test quality of one of our trainings over time."""
    path: Path = []
    begin = time.perf_counter()

    def step(iteration: int, metrics: Mapping[str, float]) -> None:
        path.append((time.perf_counter() - begin, metrics[f"valid {METRIC}"]))

    model = rp.fit(
        family.backend,
        scorer=family.scorer,
        loss=family.loss,
        sampler=family.sampler,
        train=split.train,
        valid=split.test,
        seed=seed,
        selection=METRIC,
        train_curve=False,
        callbacks=[step],
        progress=False,
    )
    each = model.record.seconds["watching"] / max(len(path), 1)
    return [(seconds - each * number, value) for number, (seconds, value) in enumerate(path)]


def follow_catboost(split: Split, seed: int, trees: int) -> Path:
    """Record the test quality of CatBoost's YetiRank over time, measured after training so that this is not timed."""
    import catboost

    train, test = split.train, split.test
    ids = np.repeat(np.arange(len(train)), train.lengths)
    times: list[float] = []

    class Clock:
        def after_iteration(self, info: Any) -> bool:
            times.append(time.perf_counter() - begin)
            return True

    begin = time.perf_counter()
    model = catboost.CatBoost(
        {
            "loss_function": "YetiRank",
            "iterations": trees,
            "learning_rate": LEARNING_RATE,
            "random_seed": seed,
            "thread_count": threads(),
            "verbose": False,
            "allow_writing_files": False,
        }
    )
    model.fit(catboost.Pool(train.features, train.labels, group_id=ids), callbacks=[Clock()])
    metric = rp.metric(METRIC)
    stages = model.staged_predict(test.features, eval_period=1)
    values = [metric.mean(np.asarray(scores), test.labels, test.starts) for scores in stages]
    return list(zip(times, values, strict=True))


def collections(effort: Effort) -> Iterator[tuple[str, Callable[[int], Split]]]:
    """Yield the data sets to learn from: a name, and a split for each seed."""
    queries = effort.size(QUERIES, 25)
    size = "" if not effort.quick else ",documents=10"
    yield f"made data, {queries:,} queries", lambda seed: rp.load(f"synthetic[queries={queries}{size},sample=0]")
    try:
        rp.load("mq2008")
    except RankplugError:
        return
    yield "MQ2008", lambda seed: rp.load("mq2008", fold=1 + seed % 5)


def measure_on(name: str, split_of: Callable[[int], Split], effort: Effort) -> Iterator[Measurement | Curve]:
    """Measure all contestants on one collection, seed by seed, so that all have the machine's good and bad moments."""
    seeds, known = range(min(effort.rounds, SEEDS)), families(effort)
    trees = effort.size(TREES, 3)
    contestants: dict[str, Callable[[Split, int], Path]] = {
        label: (lambda split, seed, family=family: follow(family, split, seed)) for label, family in known.items()
    }
    contestants["CatBoost YetiRank"] = lambda split, seed: follow_catboost(split, seed, trees)
    paths: dict[str, list[Path]] = {label: [] for label in contestants}
    for seed, (label, run) in itertools.product(seeds, contestants.items()):
        paths[label].append(run(split_of(seed), seed))
    for label, found in paths.items():
        yield Curve(f"{name}, by seconds", label, "seconds of training", "held-out NDCG@10", over_time(found), "x")
    for label, found in paths.items():
        if label not in known or known[label].trees:
            points = tuple((number + 1.0, float(np.median(row))) for number, row in enumerate(_values(found)))
            yield Curve(f"{name}, by trees", label, "trees", "held-out NDCG@10", points)
    for label, found in paths.items():
        best = [max(value for _, value in path) for path in found]
        took = np.median([path[-1][0] for path in found])
        yield repeated(f"{name}, {label}: best held-out NDCG@10", best, threads=threads(), note=f"trains {took:.1f} s")


def _values(paths: list[Path]) -> list[tuple[float, ...]]:
    """Return NDCG after each iteration, as far as all seeds went."""
    return list(zip(*([value for _, value in path] for path in paths), strict=False))


def over_time(paths: list[Path]) -> tuple[tuple[float, float], ...]:
    """Return the median over the seeds of the best NDCG so far, at times evenly spaced in their logarithm."""
    first = max(path[0][0] for path in paths)
    last = max(max(path[-1][0] for path in paths), first)
    points = []
    for moment in np.geomspace(first, last, PLACES):
        best = [max(value for seconds, value in path if seconds <= moment * (1 + 1e-9)) for path in paths]
        points.append((float(moment), float(np.median(best))))
    return tuple(points)


def measure(effort: Effort) -> Iterator[Measurement | Curve]:
    """Measure made data, and MQ2008 where it is; before that a few lists, so that no compilation is timed."""
    few = rp.load("synthetic[queries=20,documents=20]")
    for family in families(replace(effort, quick=True)).values():
        follow(family, few, 0)
    for name, split_of in collections(effort):
        yield from measure_on(name, split_of, effort)
