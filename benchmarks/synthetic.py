"""How fast made data are made, in memory and block by block into a file, and how much memory the latter takes.

Run ``python benchmarks/synthetic.py [--megabytes 400] [--threads 2]``. Wall time suffers from other programs, processor
time less so; both are shown.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from typing import Any

from rankplug_data.synthetic import collection
from rankplug_data.synthetic.parameters import SyntheticParameters
from rankplug_data.synthetic.shapes import SHAPES, ShapeName

from rankplug.threads import threads, use_threads


def queries_for(shape: ShapeName, megabytes: float) -> int:
    """How many queries of a shape have features of that size."""
    outline = SHAPES[shape]
    return max(5, round(megabytes * 1e6 / (4 * outline.features * outline.documents)))


def make(shape: ShapeName, megabytes: float, in_memory: bool) -> dict[str, Any]:
    """Makes a set anew; its size, wall and processor time, and the process's peak of memory in megabytes."""
    before = collection.IN_MEMORY_BYTES
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RANKPLUG_CACHE"], cache = folder, os.environ.get("RANKPLUG_CACHE")
        collection.IN_MEMORY_BYTES = 1 << 62 if in_memory else 0
        try:
            wall, processor = time.perf_counter(), time.process_time()
            parameters = SyntheticParameters(shape=shape, queries=queries_for(shape, megabytes))
            split = collection.load(parameters, 1, 0)
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
        finally:
            collection.IN_MEMORY_BYTES = before
            os.environ.pop("RANKPLUG_CACHE")
            os.environ.update({} if cache is None else {"RANKPLUG_CACHE": cache})
        size = sum(part.features.nbytes for part in split) / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {"megabytes": size, "wall": wall, "processor": processor, "peak": peak}


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=float, default=400)
    options.add_argument("--threads", type=int, default=threads())
    given = options.parse_args()
    with use_threads(given.threads):
        collection.load(SyntheticParameters(queries=5), 1, 0)
        print(f"{given.threads} threads, wanted: 200 MB/s; the peak of memory only ever rises")
        print(f"{'shape':9}{'where':8}{'MB':>6}{'wall s':>8}{'MB/s':>7}{'CPU s':>8}{'MB/s':>7}{'peak MB':>9}")
        for in_memory in (False, True):
            for shape in SHAPES:
                row = make(shape, given.megabytes, in_memory)
                print(
                    f"{shape:9}{'memory' if in_memory else 'file':8}{row['megabytes']:>6.0f}"
                    f"{row['wall']:>8.2f}{row['megabytes'] / row['wall']:>7.0f}"
                    f"{row['processor']:>8.2f}{row['megabytes'] / row['processor']:>7.0f}{row['peak']:>9.0f}"
                )


if __name__ == "__main__":
    main()
