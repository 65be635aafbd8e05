"""Time of questions to a store and of planning a sweep that is finished, as results grow from 100 to 10,000, or to
100,000 where that is asked for.

The results are made, with a hundred test queries, two metrics and a learning curve of fifty iterations each. The first
question after a sweep also takes new results into the store's index; the row ``first question`` tells what that costs.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np

from rankplug.store import Result, Store, Trial, combinations, results
from rankplug.sweeps import sweep
from rankplug.training import LearningCurve
from rankplug_benchmarks.harness.measurements import Curve, Measurement, at_most, repeated
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.many_runs.sweeps import tiny_grid

SIZES = (100, 1_000, 10_000)
LARGE_SIZES = (1_000, 10_000, 100_000)
TRIALS = 10
"""Trials of each combination."""
QUERIES = 100
ITERATIONS = 50
MOST_SECONDS = 2.0
LINEAR = 1.1
"""Power of the number of results in the time; 1 is linear."""


def finished_sweep(store: Store, size: int) -> None:
    """Write the made results of a sweep; without waiting for the disk, which is not what is timed."""
    chosen, _ = combinations(tiny_grid(size // TRIALS))
    generator = np.random.default_rng(size)
    queries = tuple(f"q{number}" for number in range(QUERIES))
    for combination in chosen:
        for number in range(TRIALS):
            curve = LearningCurve()
            for iteration, value in enumerate(generator.random(ITERATIONS)):
                curve.add(iteration, {"valid ndcg@5": float(value)})
            values = {metric: generator.random(QUERIES) for metric in ("ndcg@5", "ndcg@10")}
            record = {"fit_seconds": 1.0, "best_iteration": 3}
            with mock.patch("os.fsync"):
                store.write(Result(Trial(combination, 1, number), values, queries, curve, record))


def seconds(function: Callable[[], object]) -> float:
    """Time a call."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def command(folder: Path) -> None:
    """Run ``rankplug results``, from the start of its process to its end."""
    subprocess.run(
        [
            sys.executable,
            "-c",
            "from rankplug.cli import main; main()",
            "results",
            "--store",
            str(folder),
            "--group-by",
            "loss",
            "--format",
            "csv",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def measure(effort: Effort, sizes: Sequence[int] = SIZES) -> Iterator[Measurement | Curve]:
    """Ask stores of growing size."""
    sizes = sizes if not effort.quick else (20, 40)
    points: dict[str, list[tuple[float, float]]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            store = Store(folder)
            finished_sweep(store, size)
            first = seconds(lambda store=store: results(store))
            questions: dict[str, Callable[[], object]] = {
                "rankplug results": lambda folder=folder: command(Path(folder)),
                "planning a finished sweep": lambda store=store, size=size: sweep(
                    tiny_grid(size // TRIALS), store=store, trials=TRIALS, progress=False
                ),
                "store.frame()": lambda store=store: store.frame(),
            }
            points.setdefault("first question", []).append((size, first))
            for name, ask in questions.items():
                taken = [seconds(ask) for _ in range(effort.rounds)]
                points.setdefault(name, []).append((size, float(np.median(taken))))
                if size == sizes[-1]:
                    target = at_most(MOST_SECONDS) if size == SIZES[-1] and name != "store.frame()" else None
                    yield repeated(f"{size:,} results: {name}", taken, threads=1, unit="s", target=target)
    for name, point in points.items():
        yield Curve("growth", name, "results", "seconds", tuple(point), "xy")
        (few, short), (many, long) = point[-2:]
        power = math.log(long / short) / math.log(many / few)
        yield repeated(
            f"{name}: power of the number of results in its time",
            [power],
            threads=1,
            target=at_most(LINEAR),
            note=f"from {few:,.0f} to {many:,.0f} results",
        )


def measure_large(effort: Effort) -> Iterator[Measurement | Curve]:
    """Ask stores of up to 100,000 results, each question once."""
    return measure(replace(effort, rounds=1), LARGE_SIZES)
