"""A set as large as MSLR-WEB30K: made, cached, opened, and learned from, each step in a process of its own.

31,531 queries and 3.77 million documents of 136 features, 2 GB, of which 60 % are for training. The sample is another
one in each run, so that nothing of it is in the cache, and it is removed from there in the end. How much of a training
is ours is told by a stopwatch around every call of the objective.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import rankplug as rp
from rankplug.errors import RankplugError
from rankplug.losses import Objective
from rankplug.system import cache_folder, threads
from rankplug_benchmarks.harness.measurements import Measurement, at_most, once
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.resident_memory import growth

QUERIES = 31_531
TREES = 20
LEAVES = 400
LAYERS = "(1024,512,256,128,64,32,16)"
"""Layers of the stochastic paper's networks."""

Facts = dict[str, float]


@contextlib.contextmanager
def stopwatch() -> Iterator[list[float]]:
    """Record the seconds of every call of an objective while a block runs."""
    calls: list[float] = []
    original = Objective.__call__

    def timed(self: Objective, *given: Any, **options: Any) -> Any:
        begin = time.perf_counter()
        try:
            return original(self, *given, **options)
        finally:
            calls.append(time.perf_counter() - begin)

    Objective.__call__ = timed  # type: ignore[method-assign]
    try:
        yield calls
    finally:
        Objective.__call__ = original  # type: ignore[method-assign]


def make(dataset: str) -> Facts:
    """Make the set, and put it into the cache."""
    with growth() as memory:
        begin = time.perf_counter()
        split = rp.load(dataset)
        seconds = time.perf_counter() - begin
    size = sum(part.features.nbytes for part in split)
    return {"seconds": seconds, "bytes": size, "documents": sum(part.documents for part in split), "peak": memory.bytes}


def open_cached(dataset: str) -> Facts:
    """Open the set in the cache, after another set, so that imports are not timed."""
    rp.load("synthetic[queries=5]")
    begin = time.perf_counter()
    split = rp.load(dataset)
    _ = float(split.train.features[-1, 0])
    return {"seconds": time.perf_counter() - begin}


def train(dataset: str, backend: str, scorer: str, loss: str, sampler: str) -> Facts:
    """Train without validation, after a fit of a few lists has compiled what there is to compile."""
    options: dict[str, Any] = {"scorer": scorer, "loss": loss, "sampler": sampler or None, "progress": False}
    train = rp.load(dataset).train
    rp.fit(backend, train=rp.load("synthetic[queries=20]").train, **options)
    with growth() as memory, stopwatch() as calls:
        model = rp.fit(backend, train=train, train_curve=False, **options)
    seconds = model.record.seconds
    return {
        "total": seconds["total"],
        "training": seconds["training"],
        "iterations": model.record.iterations,
        "objective": sum(calls),
        "peak": memory.bytes,
        "bytes": train.features.nbytes,
        "documents": train.documents,
    }


def in_a_process(function: str, *given: str) -> Facts:
    """Run one of the functions above in a new process, and return what it finds."""
    program = f"import json, {__name__} as scale; print(json.dumps(scale.{function}(*{given!r})))"
    answer = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    if answer.returncode:
        raise RankplugError(f"{function} of {given[0]} failed: {answer.stderr.strip().splitlines()[-1]}")
    found: Facts = json.loads(answer.stdout.splitlines()[-1])
    return found


def trainings(effort: Effort) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the trainings: a name, backend, scorer, loss and sampler."""
    settings = f"rounds={effort.size(TREES, 2)},learning_rate=0.05,min_data=50,l2=0,feature_fraction=1"
    trees = f"trees[leaves={effort.size(LEAVES, 4)},{settings}]"
    yield "lambdarank", "lightgbm", trees, "lambdarank", ""
    yield "LightGBM's own lambdarank", "lightgbm[native=true]", trees, "lambdarank", ""
    yield "xe_ndcg", "lightgbm", trees, "xe_ndcg", ""
    yield "E[lambdarank] of 8 draws", "lightgbm", trees, "lambdarank[sigma=2.0]", "gumbel[beta=0.25,samples=8]"
    mlp = f"mlp[layers={LAYERS if not effort.quick else '(4,2)'},batch_norm=true,input_batch_norm=true]"
    yield (
        "network of 7 layers, approx_ndcg",
        "torch[optimiser=adagrad,lr=0.005,epochs=1,batch=128,l2=0,schedule=constant,scaling=none]",
        mlp,
        "approx_ndcg",
        "",
    )


def measure(effort: Effort) -> Iterator[Measurement]:
    """Make, open, train and remove the set."""
    size = f"queries={effort.size(QUERIES, 20)}"
    dataset = f"synthetic[{size},sample={int(time.time())}]"
    data = cache_folder() / "data"
    before = set(data.glob("synthetic-*"))
    number = threads()
    try:
        yield from measure_data(dataset, number)
        for name, *how in trainings(effort):
            yield from describe(name, how[0], in_a_process("train", dataset, *how), number)
    finally:
        for folder in set(data.glob("synthetic-*")) - before:
            shutil.rmtree(folder, ignore_errors=True)


def measure_data(dataset: str, number: int) -> Iterator[Measurement]:
    """Measure making and opening."""
    made = in_a_process("make", dataset)
    note = f"{made['documents']:,.0f} documents, {made['bytes'] / 1e9:.2f} GB"
    yield once("made and cached", made["seconds"], threads=number, unit="s", note=note)
    yield once("making: peak memory", made["peak"] / 2**30, threads=number, unit="GiB")
    opened = in_a_process("open_cached", dataset)["seconds"]
    yield once("WEB30K-sized set: opened", opened, threads=number, unit="s", target=at_most(0.1))


def describe(name: str, backend: str, facts: Facts, number: int) -> Iterator[Measurement]:
    """Describe one training in numbers."""
    iterations = facts["iterations"]
    unit = "epoch" if backend.startswith("torch") else "tree"
    words = f"{iterations:.0f} {unit}{'s' if iterations > 1 else ''} on {facts['documents']:,.0f} documents"
    yield once(f"{name}: whole fit", facts["total"], threads=number, unit="s", note=words)
    yield once(f"{name}: one {unit}", facts["training"] / iterations, threads=number, unit="s")
    share = facts["objective"] / facts["training"]
    if "native" not in backend:
        yield once(f"{name}: share of the objective", 100 * share, threads=number, unit="%")
    note = f"{facts['peak'] / facts['bytes']:.2f} of the training features"
    yield once(
        f"{name}: peak memory beyond the mapped data", facts["peak"] / 2**30, threads=number, unit="GiB", note=note
    )
