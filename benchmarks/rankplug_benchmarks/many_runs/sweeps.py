"""Overhead of a sweep beside the training: many tiny combinations inline, in processes and as notebooks.

A combination's overhead is its share of the time that a sweep takes while no trial of it loads, fits or measures. The
start of workers and kernels is part of it, so that it falls as sweeps grow.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import Any

from rankplug.errors import RankplugError
from rankplug.store import Store, query
from rankplug.sweeps import sweep
from rankplug_benchmarks.harness.measurements import Measurement, at_most, repeated
from rankplug_benchmarks.harness.subjects import Effort


def tiny_grid(combinations: int) -> dict[str, Any]:
    """Return a grid of combinations that train for some milliseconds."""
    return {
        "dataset": "synthetic[queries=20,documents=10]",
        "backend": "lightgbm",
        "scorer": "trees[rounds=2,leaves=31,learning_rate=0.1,min_data=1,l2=0,feature_fraction=1]",
        "loss": f"ranknet[sigma=[{','.join(f'{1 + number / 1000}' for number in range(combinations))}]]",
        "metrics": "ndcg@5",
    }


def overhead(combinations: int, jobs: int, **options: Any) -> float:
    """Return the seconds a combination that are not the trial's own."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        begin = time.perf_counter()
        outcome = sweep(tiny_grid(combinations), store=store, jobs=jobs, progress=False, **options)
        elapsed = time.perf_counter() - begin
        if outcome.failures:
            raise RankplugError(outcome.failures[0])
        sums = query("select sum(load_seconds) + sum(fit_seconds) + sum(measure_seconds) as s from trials", store)
        own = float(sums["s"][0])
    return (elapsed - own / jobs) / combinations


def measure(effort: Effort) -> Iterator[Measurement]:
    """Measure inline, in processes and as notebooks."""
    jobs = max(effort.threads)
    overhead(2, 1)
    for what, combinations, on, most, target, options in (
        ("inline", effort.size(200, 3), 1, 5, at_most(0.15), {}),
        ("in processes", effort.size(200, 3), jobs, 3, None, {}),
        ("as notebooks", effort.size(200, 2), jobs, 2, at_most(1.0), {"notebooks": True}),
    ):
        yield repeated(
            f"sweep of {combinations} combinations {what}: seconds a combination beside training",
            [overhead(combinations, on, **options) for _ in range(min(effort.rounds, most))],
            threads=on,
            unit="s",
            target=target,
        )
