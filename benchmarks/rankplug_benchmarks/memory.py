"""Peak memory of training beyond the data, for each backend, each in a process of its own with one thread.

The process first fits a few lists, so that code is compiled and engines are loaded, then makes the data, forgets its
peak, and fits. For LightGBM and XGBoost the engine by itself does the same, and the difference is ours.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rankplug.errors import RankplugError
from rankplug.system import thread_environment
from rankplug_benchmarks.harness.measurements import Measurement, at_most, once, repeated
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.mslr_shape import whole_lists

STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")
TREES = {"scorer": "trees[rounds=10,leaves=31,learning_rate=0.1,l2=0,feature_fraction=1]", "loss": "lambdarank"}
FITS = {
    "lightgbm": TREES,
    "xgboost": TREES,
    "torch": {"scorer": "mlp[layers=(256,128)]", "loss": "approx_ndcg"},
    "lbfgs": {"scorer": "linear", "loss": "xe_ndcg[gamma=once]"},
    "rankboost": {"scorer": "stumps[rounds=10]", "loss": "rankboost"},
}
OPTIONS = {
    "torch": "torch[epochs=1,lr=0.001,batch=128,l2=0,schedule=constant,scaling=none]",
    "lbfgs": "lbfgs[C=1,iterations=5,restarts=0,scaling=none]",
}
ENGINES = ("lightgbm", "xgboost")
"""Those that can be run by themselves."""


def fit_ours(backend: str, lists) -> None:
    """Train a short time through rankplug."""
    import rankplug as rp

    rp.fit(OPTIONS.get(backend, backend), train=lists, progress=False, **FITS[backend])


def fit_alone(engine: str, lists) -> None:
    """Train the same model by the engine itself, with its own objective."""
    if engine == "lightgbm":
        import lightgbm as lgb

        data = lgb.Dataset(lists.features, lists.labels, group=lists.lengths)
        lgb.train({"objective": "lambdarank", "verbosity": -1, "num_threads": 1}, data, 10)
    else:
        import xgboost as xgb

        data = xgb.QuantileDMatrix(lists.features, lists.labels, group=lists.lengths, max_bin=255, nthread=1)
        settings = {
            "objective": "rank:ndcg",
            "max_leaves": 31,
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_bin": 255,
            "nthread": 1,
        }
        xgb.train(settings, data, 10)


def peak() -> int:
    """Return the largest resident size in bytes since it was last reset."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def watch(backend: str, alone: bool, queries: int) -> float:
    """Return the bytes a training needs beyond what was there before it, over those of the feature matrix."""
    fit = fit_alone if alone else fit_ours
    fit(backend, whole_lists(20))
    lists = whole_lists(queries)
    _ = lists.fingerprint
    RESET.write_text("5")
    before = peak()
    fit(backend, lists)
    return (peak() - before) / lists.features.nbytes


def in_a_process(backend: str, alone: bool, queries: int) -> float:
    """Measure the same in a process of its own."""
    program = f"from rankplug_benchmarks.memory import watch; print(watch({backend!r}, {alone}, {queries}))"
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, **thread_environment(1)},
    )
    if answer.returncode:
        raise RankplugError(f"the fit of {backend} failed: {answer.stderr.strip().splitlines()[-1]}")
    return float(answer.stdout.split()[-1])


def measure(effort: Effort) -> Iterator[Measurement]:
    """Measure all backends; LightGBM at two sizes, as the target is about its difference."""
    if not (STATUS.exists() and RESET.exists()):
        return
    times = effort.size(2, 1)
    for engine, queries in (("lightgbm", 2000), ("lightgbm", 6000), ("xgboost", 2000)):
        size = effort.size(queries, 40)
        shares = [in_a_process(engine, False, size) - in_a_process(engine, True, size) for _ in range(times)]
        yield repeated(
            f"{engine}, {size:,} queries: peak memory beyond the engine's own, of the feature matrix",
            shares,
            threads=1,
            target=at_most(0.10),
        )
    for backend in FITS:
        size = effort.size(2000, 40)
        yield once(
            f"{backend}, {size:,} queries: peak memory of a fit beyond its data, of the feature matrix",
            in_a_process(backend, False, size),
            threads=1,
        )
