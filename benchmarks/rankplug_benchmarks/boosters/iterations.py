"""Iterations beside ours with lambdarank: LightGBM with its shortcuts, CatBoost, and YDF, at equal leaves.

LightGBM quantises gradients with ``use_quantized_grad``, and learns from a tenth of the queries with
``bagging_by_query``. CatBoost and YDF grow trees leaf by leaf, each with a ranking loss of its own. All have the same
documents, binned before anything is timed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import rankplug as rp
from rankplug.system import use_threads
from rankplug_benchmarks.harness.measurements import Measurement, Table, measured
from rankplug_benchmarks.harness.rounds import Contestant, SelfTimedContestant, by_turns
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.mslr_shape import whole_lists
from rankplug_benchmarks.peers import PEERS, PeerError, PeerProcess, install

SETTLING = 2
"""Iterations before any is timed."""
TIMED = 3
"""Iterations of CatBoost in a round, which cannot go on with a model as cheaply as it makes one more tree."""
SHORTCUTS: dict[str, dict[str, Any]] = {
    "LightGBM's own lambdarank, use_quantized_grad": {"use_quantized_grad": True},
    "LightGBM's own lambdarank, bagging_by_query of a tenth": {
        "bagging_by_query": True,
        "bagging_fraction": 0.1,
        "bagging_freq": 1,
    },
}


def lightgbm_iterations(lists: rp.Lists, leaves: int, threads: int, shortcut: dict[str, Any]) -> Contestant:
    """Return a call that makes one more tree of LightGBM's own lambdarank."""
    import lightgbm

    parameters = {
        "objective": "lambdarank",
        "num_leaves": leaves,
        "min_data_in_leaf": 50,
        "min_sum_hessian_in_leaf": 0.0,
        "learning_rate": 0.02,
        "num_threads": threads,
        "verbose": -1,
        **shortcut,
    }
    data = lightgbm.Dataset(np.asarray(lists.features), lists.labels, group=lists.lengths, params=parameters)
    return lightgbm.Booster(parameters, data).update


def catboost_iterations(lists: rp.Lists, leaves: int, threads: int) -> Contestant:
    """Return a call that makes some trees of CatBoost's YetiRank and tells the seconds of one."""
    import catboost

    pool = catboost.Pool(np.asarray(lists.features), lists.labels, group_id=lists.query_of_document)
    pool.quantize(border_count=254)

    def run() -> float:
        ends: list[float] = []

        class Clock:
            def after_iteration(self, info: Any) -> bool:
                ends.append(time.perf_counter())
                return True

        catboost.CatBoost(
            {
                "loss_function": "YetiRank",
                "grow_policy": "Lossguide",
                "max_leaves": leaves,
                "depth": 16,
                "min_data_in_leaf": 50,
                "learning_rate": 0.02,
                "iterations": 1 + TIMED,
                "thread_count": threads,
                "allow_writing_files": False,
                "logging_level": "Silent",
            }
        ).fit(pool, callbacks=[Clock()])
        return (ends[-1] - ends[0]) / TIMED

    return SelfTimedContestant(run)


def measure_boosters(ours: Contestant, queries: int, threads: int, effort: Effort) -> Iterator[Measurement | Table]:
    """Measure all of them beside our iteration, those of peers where they are asked for."""
    lists, leaves = whole_lists(queries), effort.size(400, 7)
    with use_threads(threads):
        contestants = {
            name: lightgbm_iterations(lists, leaves, threads, shortcut) for name, shortcut in SHORTCUTS.items()
        }
        contestants["CatBoost's YetiRank"] = catboost_iterations(lists, leaves, threads)
        rounds = by_turns({"rankplug": ours, **contestants}, effort.rounds, warm_up=SETTLING)
        for name in contestants:
            yield measured(
                f"{name}, {queries:,} queries: iteration over ours in LightGBM with lambdarank",
                rounds,
                lambda seconds, name=name: seconds[name] / seconds["rankplug"],
                threads=threads,
            )
        failed = []
        for peer, way in ((one, way) for one in PEERS if effort.peers for way in one.trainings):
            arrays = {"features": np.asarray(lists.features), "labels": lists.labels}
            given = {**arrays, "queries": lists.query_of_document, "leaves": np.array(leaves)}
            try:
                with PeerProcess(peer, install(peer), way, threads, **given) as process:
                    rounds = by_turns({"rankplug": ours, peer.name: process.contestant}, effort.rounds)
            except PeerError as error:
                failed.append((peer.title, way, str(error)))
                continue
            yield measured(
                f"{peer.name}, {way}, {queries:,} queries: iteration over ours in LightGBM with lambdarank",
                rounds,
                lambda seconds, peer=peer: seconds[peer.name] / seconds["rankplug"],
                threads=threads,
                note=peer.title,
            )
        if failed:
            yield Table(f"{queries:,} queries, {threads} threads: not run", ("peer", "way", "why"), tuple(failed))
