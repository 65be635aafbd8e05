"""Peak memory of training beyond the data, each fit in a process of its own with one thread (Linux only)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rankplug.system import thread_environment
from rankplug_benchmarks.mslr_shape import lists_with_features
from rankplug_benchmarks.rounds import Row, value_row

TREES = ("trees[rounds=10,leaves=31,learning_rate=0.1,l2=0,feature_fraction=1]", "lambdarank")
FITS = {
    "lightgbm": TREES,
    "xgboost": TREES,
    "lightgbm[native=true]": TREES,
    "xgboost[native=true]": TREES,
    "torch[epochs=1,lr=0.001,batch=128,l2=0,schedule=constant,scaling=none]": ("mlp[layers=(256,128)]", "approx_ndcg"),
    "lbfgs[C=1,iterations=5,restarts=0,scaling=none]": ("linear", "xe_ndcg[gamma=once]"),
}


def resident(field: str) -> int:
    """Return a size from the process status in bytes: ``VmRSS`` now, ``VmHWM`` the largest."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(field))


def growth_in_this_process(backend: str, queries: int) -> float:
    """Return the peak memory of a fit beyond the data, as a multiple of the feature matrix."""
    import rankplug as rp

    scorer, loss = FITS[backend]
    rp.fit(backend, scorer=scorer, loss=loss, train=lists_with_features(20), progress=False)  # loads and compiles
    lists = lists_with_features(queries)
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    before = resident("VmRSS")
    rp.fit(backend, scorer=scorer, loss=loss, train=lists, progress=False)
    return (resident("VmHWM") - before) / lists.features.nbytes


def measure(rounds: int, quick: bool) -> Iterator[Row]:
    """Measure every backend once."""
    if not Path("/proc/self/clear_refs").exists():
        return
    queries = 60 if quick else 2000
    for backend in FITS:
        program = f"from {__name__} import growth_in_this_process as g; print(g({backend!r}, {queries}))"
        environment = {**os.environ, **thread_environment(1)}
        answer = subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
        )
        name = backend if "native" in backend else backend.partition("[")[0]
        yield value_row(f"{name}: peak memory beyond the data, over the feature matrix", [float(answer.stdout)])
