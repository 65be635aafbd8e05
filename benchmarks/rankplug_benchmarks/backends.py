"""Whole boosting iterations with our objectives beside the engines' own, with 400 leaves, and on few queries."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import xgboost as xgb
from rankplug_lightgbm.backend import LightGBMLearner
from rankplug_xgboost.backend import XGBoostLearner

from rankplug.system import use_threads
from rankplug.training import problem_of
from rankplug_benchmarks.boosters.iterations import measure_boosters
from rankplug_benchmarks.harness.measurements import Measurement, Table, at_most, measured
from rankplug_benchmarks.harness.rounds import Contestant, by_turns
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.mslr_shape import whole_lists

SETTLING = 2
"""Iterations before any is timed: code is compiled, and scores are no longer all alike."""


def measure_boosting(queries: int, threads: int, effort: Effort) -> Iterator[Measurement]:
    """Measure whole boosting iterations, over those with the engine's own objective."""
    lists = whole_lists(queries)
    longest = int(lists.lengths.max())
    leaves = effort.size(400, 7)
    scorer = f"trees[leaves={leaves},min_data=50,min_hessian=0,learning_rate=0.02,rounds=1000,l2=0,feature_fraction=1]"
    for engine, learner, what, loss, target in (
        ("lightgbm", LightGBMLearner, "lambdarank, truncation 30", "lambdarank[norm=true,truncation=30]", 1.0),
        ("lightgbm", LightGBMLearner, "lambdarank", f"lambdarank[norm=true,truncation={longest}]", 1.0),
        ("lightgbm", LightGBMLearner, "xe_ndcg", "xe_ndcg", 1.0),
        ("xgboost", XGBoostLearner, "lambdarank", f"lambdarank[truncation={longest}]", 0.95),
    ):
        with use_threads(threads):
            ours, native = (
                learner(problem_of(backend, scorer, loss, None, lists, None, 0))
                for backend in (engine, f"{engine}[native=true]")
            )
            rounds = by_turns({"rankplug": advancing(ours), engine: advancing(native)}, effort.rounds, warm_up=SETTLING)
        yield measured(
            f"{engine}, {what}, {queries:,} queries: iteration over the engine's own",
            rounds,
            lambda seconds, engine=engine: seconds["rankplug"] / seconds[engine],
            threads=threads,
            target=at_most(target),
        )


def measure_query_bagging(queries: int, threads: int, effort: Effort) -> Iterator[Measurement]:
    """Measure iterations on a tenth of the queries, over those on all."""
    lists = whole_lists(queries)
    settings = (
        f"leaves={effort.size(400, 7)},min_data=50,min_hessian=0,learning_rate=0.02,rounds=1000,l2=0,feature_fraction=1"
    )
    for backend, learner, what in (
        ("lightgbm", LightGBMLearner, "lightgbm, lambdarank"),
        ("lightgbm[native=true]", LightGBMLearner, "lightgbm, its own lambdarank"),
        ("xgboost", XGBoostLearner, "xgboost, lambdarank"),
    ):
        with use_threads(threads):
            some, every = (
                learner(problem_of(backend, f"trees[{settings}{share}]", "lambdarank[norm=true]", None, lists, None, 0))
                for share in (",query_bagging=0.1", "")
            )
            rounds = by_turns({"a tenth": advancing(some), "all": advancing(every)}, effort.rounds, warm_up=SETTLING)
        yield measured(
            f"{what}, {queries:,} queries: iteration on a tenth of them over all",
            rounds,
            lambda seconds: seconds["a tenth"] / seconds["all"],
            threads=threads,
            target=at_most(0.5),
        )


def measure_xgboost_limit(queries: int, threads: int, effort: Effort) -> Iterator[Measurement]:
    """Measure XGBoost alone: trees on documents of a tenth of the queries, binned beforehand, over trees on all."""
    lists = whole_lists(queries)
    gradient, curvature = (lists.labels.mean() - lists.labels).astype(np.float32), np.ones_like(lists.labels)
    some = slice(0, int(lists.starts[max(queries // 10, 1)]))
    every = xgb.QuantileDMatrix(lists.features, label=lists.labels, nthread=threads)
    tenth = xgb.QuantileDMatrix(lists.features[some], nthread=threads, ref=every)
    settings = {
        "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": effort.size(400, 7), "max_depth": 0,
        "eta": 0.02, "min_child_weight": 0, "reg_lambda": 0, "base_score": 0.0, "nthread": threads,
    }  # fmt: skip

    def growing(data: xgb.DMatrix, rows: slice) -> Contestant:
        booster, numbers = xgb.Booster(settings, [every]), itertools.count()

        def grow() -> None:
            booster.boost(data, next(numbers), grad=gradient[rows], hess=curvature[rows])
            booster.predict(every, output_margin=True, training=True)

        return grow

    contestants = {"a tenth": growing(tenth, some), "all": growing(every, slice(None))}
    yield measured(
        f"xgboost alone, {queries:,} queries: tree on a tenth, binned before, and scores of all, over tree on all",
        by_turns(contestants, effort.rounds, warm_up=SETTLING),
        lambda seconds: seconds["a tenth"] / seconds["all"],
        threads=threads,
    )


def advancing(learner: Any) -> Contestant:
    """Return a call that makes one more iteration."""
    numbers = itertools.count()
    return lambda: learner.advance(next(numbers))


def measure_others(queries: int, threads: int, effort: Effort) -> Iterator[Measurement | Table]:
    """Measure iterations of other boosters and of LightGBM with its shortcuts, over ours."""
    settings = f"leaves={effort.size(400, 7)},min_data=50,min_hessian=0,learning_rate=0.02,rounds=1000,l2=0"
    with use_threads(threads):
        problem = problem_of("lightgbm", f"trees[{settings}]", "lambdarank", None, whole_lists(queries), None, 0)
        ours = advancing(LightGBMLearner(problem))
    yield from measure_boosters(ours, queries, threads, effort)


def measure(effort: Effort) -> Iterator[Measurement | Table]:
    """Measure two sizes, on one thread and on all; other boosters on the smaller one."""
    sizes = (effort.size(2000, 40), effort.size(6000, 60))
    for queries, threads in itertools.product(sizes, effort.threads):
        yield from measure_boosting(queries, threads, effort)
        yield from measure_query_bagging(queries, threads, effort)
        if queries == sizes[0]:
            yield from measure_others(queries, threads, effort)
        yield from measure_xgboost_limit(queries, threads, effort)
