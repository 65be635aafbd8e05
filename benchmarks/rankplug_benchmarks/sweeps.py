"""Overhead of a sweep beside its training, and queries over 10,000 stored results."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np

from rankplug.store import Result, Store, Trial, combinations, query
from rankplug.sweeps import sweep
from rankplug.system import available_cores
from rankplug.training import LearningCurve
from rankplug_benchmarks.rounds import Row, value_row

TRIALS = 10


def tiny_grid(count: int) -> dict[str, Any]:
    """Return a grid of combinations that train for some milliseconds."""
    return {
        "dataset": "synthetic[queries=20,documents=10]",
        "backend": "lightgbm",
        "scorer": "trees[rounds=2,leaves=31,learning_rate=0.1,min_data=1,l2=0,feature_fraction=1]",
        "loss": f"ranknet[sigma=[{','.join(f'{1 + number / 1000}' for number in range(count))}]]",
        "metrics": "ndcg@5",
    }


def overhead(count: int, jobs: int, **options: Any) -> float:
    """Return the seconds per combination in which no trial loads, fits or measures."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        begin = time.perf_counter()
        sweep(tiny_grid(count), store=store, jobs=jobs, progress=False, **options)
        elapsed = time.perf_counter() - begin
        sums = query("select sum(load_seconds) + sum(fit_seconds) + sum(measure_seconds) as s from trials", store)
    return (elapsed - float(sums["s"][0]) / jobs) / count


def write_results(store: Store, count: int) -> None:
    """Write synthetic results with 100 queries, two metrics and a learning curve; not synced to disk."""
    generator = np.random.default_rng(count)
    queries = tuple(f"q{number}" for number in range(100))
    for combination in combinations(tiny_grid(count // TRIALS))[0]:
        for number in range(TRIALS):
            curve = LearningCurve()
            for iteration, value in enumerate(generator.random(50)):
                curve.add(iteration, {"valid ndcg@5": float(value)})
            values = {metric: generator.random(100) for metric in ("ndcg@5", "ndcg@10")}
            with mock.patch("os.fsync"):
                record = {"fit_seconds": 1.0, "best_iteration": 3}
                store.write(Result(Trial(combination, 1, number), values, queries, curve, record))


def measure_store(rounds: int, quick: bool) -> Iterator[Row]:
    """Measure ``rankplug results`` and planning of a finished sweep."""
    count = 20 if quick else 10_000
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        write_results(store, count)
        program = "from rankplug.cli import main; main()"
        command = [sys.executable, "-c", program, "results", "--store", folder, "--group-by", "loss", "--format", "csv"]
        times: dict[str, list[float]] = {"rankplug results": [], "planning a finished sweep": []}
        for number in range(1 + rounds):
            begin = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"})
            middle = time.perf_counter()
            sweep(tiny_grid(count // TRIALS), store=store, trials=TRIALS, progress=False)
            if number:
                times["rankplug results"].append(middle - begin)
                times["planning a finished sweep"].append(time.perf_counter() - middle)
            else:
                yield value_row(f"{count:,} results: first query", [middle - begin], unit="s")
        for name, seconds in times.items():
            headline = name == "rankplug results"
            yield value_row(f"{count:,} results: {name}", seconds, unit="s", at_most=2, headline=headline)


def measure(rounds: int, quick: bool) -> Iterator[Row]:
    """Measure sweeps in this process, in worker processes and as notebooks; then the store."""
    overhead(2, 1)
    for name, count, jobs, repeats, limit, options in (
        ("in this process", 3 if quick else 200, 1, rounds, 0.15, {}),
        ("in worker processes", 3 if quick else 200, available_cores(), min(rounds, 3), None, {}),
        ("as notebooks", 2 if quick else 50, available_cores(), min(rounds, 2), None, {"notebooks": True}),
    ):
        seconds = [overhead(count, jobs, **options) for _ in range(repeats)]
        what = f"sweep of {count} combinations {name}: seconds per combination beside training"
        yield value_row(what, seconds, threads=jobs, unit="s", at_most=limit)
    yield from measure_store(rounds, quick)
