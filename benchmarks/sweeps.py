"""What a sweep costs beside the training: many tiny combinations inline and as notebooks.

Run ``python benchmarks/sweeps.py [--combinations 200] [--jobs 2]``. A combination's overhead is its share of the time
that a sweep takes while no trial of it loads, fits or measures.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from typing import Any

from rankplug.result_tables import query
from rankplug.store import Store
from rankplug.sweeps import sweep


def tiny_grid(combinations: int) -> dict[str, Any]:
    """A grid of combinations that train for some milliseconds."""
    return {
        "dataset": "synthetic[queries=20,documents=10]",
        "backend": "lightgbm",
        "scorer": "trees[rounds=2,min_data=1]",
        "loss": f"ranknet[sigma=[{','.join(f'{1 + number / 1000}' for number in range(combinations))}]]",
        "metrics": "ndcg@5",
    }


def overhead(combinations: int, jobs: int, **options: Any) -> float:
    """Seconds a combination, summed over workers, that are not the trial's own."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        begin = time.perf_counter()
        outcome = sweep(tiny_grid(combinations), store=store, jobs=jobs, **options)
        elapsed = time.perf_counter() - begin
        if outcome.failures:
            raise SystemExit(outcome.failures[0])
        sums = query("select sum(load_seconds) + sum(fit_seconds) + sum(measure_seconds) as s from trials", store)
        own = float(sums["s"][0])
    print(f"{elapsed:.1f} s for {combinations} combinations, of which {own / jobs:.1f} s in trials")
    return (elapsed - own / jobs) / combinations


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--combinations", type=int, default=200)
    options.add_argument("--jobs", type=int, default=2)
    chosen = options.parse_args()
    inline = overhead(chosen.combinations, 1)
    print(f"inline:    {inline:.3f} s a combination (wanted: at most 0.15)")
    processes = overhead(chosen.combinations, chosen.jobs)
    print(f"processes: {processes:.3f} s a combination on {chosen.jobs} cores")
    notebooks = overhead(chosen.combinations, chosen.jobs, notebooks=True)
    print(f"notebooks: {notebooks:.3f} s a combination on {chosen.jobs} cores (wanted: at most 1.0)")


if __name__ == "__main__":
    main()
