"""Speed of making synthetic data, in memory and block by block into a file."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Iterator

from rankplug_data.synthetic import collection
from rankplug_data.synthetic.parameters import SyntheticParameters
from rankplug_data.synthetic.shapes import SHAPES, ShapeName

from rankplug.system import use_threads
from rankplug_benchmarks.harness.measurements import Measurement, at_least, repeated
from rankplug_benchmarks.harness.subjects import Effort

MEGABYTES = 200


def queries_for(shape: ShapeName, megabytes: float) -> int:
    """Return how many queries of a shape have features of a given size."""
    outline = SHAPES[shape]
    return max(5, round(megabytes * 1e6 / (4 * outline.features * outline.documents)))


def make(shape: ShapeName, megabytes: float, in_memory: bool) -> tuple[float, float]:
    """Make a set anew, and return its size in megabytes and the seconds it took."""
    before = collection.IN_MEMORY_BYTES
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RANKPLUG_CACHE"], cache = folder, os.environ.get("RANKPLUG_CACHE")
        collection.IN_MEMORY_BYTES = 1 << 62 if in_memory else 0
        try:
            begin = time.perf_counter()
            parameters = SyntheticParameters(shape=shape, queries=queries_for(shape, megabytes))
            split = collection.load(parameters, 1, 0)
            seconds = time.perf_counter() - begin
        finally:
            collection.IN_MEMORY_BYTES = before
            os.environ.pop("RANKPLUG_CACHE")
            os.environ.update({} if cache is None else {"RANKPLUG_CACHE": cache})
        return sum(part.features.nbytes for part in split) / 1e6, seconds


def measure(effort: Effort) -> Iterator[Measurement]:
    """Measure on all threads, as users make data."""
    threads = max(effort.threads)
    with use_threads(threads):
        collection.load(SyntheticParameters(queries=5), 1, 0)
        for shape, in_memory in itertools.product(SHAPES, (False, True)):
            found = [make(shape, effort.size(MEGABYTES, 2), in_memory) for _ in range(effort.rounds)]
            yield repeated(
                f"made data like {shape}, {'in memory' if in_memory else 'to a file'}",
                [megabytes / seconds for megabytes, seconds in found],
                threads=threads,
                unit="MB/s",
                target=at_least(200),
            )
