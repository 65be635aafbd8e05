"""Boosting iterations with our objectives beside the engines' own, all threads beside one, a busy machine."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import sys
import time
from collections.abc import Iterator

import rankplug as rp
from rankplug.system import available_cores, use_threads
from rankplug_benchmarks.mslr_shape import lists_with_features
from rankplug_benchmarks.rounds import Row, SelfTimed, interleave, ratio_row

SMALL_FITS = {
    "lightgbm": ("lightgbm", "trees[leaves=15,learning_rate=0.1,rounds=100,l2=0,feature_fraction=1]", "xe_ndcg"),
    "xgboost": ("xgboost", "trees[leaves=15,learning_rate=0.1,rounds=100,l2=0,feature_fraction=1]", "xe_ndcg"),
    "torch": ("torch[epochs=20,lr=0.001,batch=128,l2=0,schedule=constant,scaling=none]", "mlp", "xe_ndcg"),
    "lbfgs": ("lbfgs[C=1,iterations=100,scaling=none]", "linear", "xe_ndcg"),
}


def training(backend: str, scorer: str, loss: str, lists: rp.Lists) -> SelfTimed:
    """Return a contestant that trains; preparation of the data is not timed."""

    def run() -> float:
        model = rp.fit(backend, scorer=scorer, loss=loss, train=lists, train_curve=False, progress=False)
        return float(model.record.seconds["training"])

    return SelfTimed(run)


def measure_engines(queries: int, threads: int, rounds: int, quick: bool) -> Iterator[Row]:
    """Measure training with our objective over training with the engine's own."""
    lists = lists_with_features(queries)
    longest = int(lists.lengths.max())
    settings = f"leaves={7 if quick else 400},min_data=50,min_hessian=0,learning_rate=0.02,l2=0,feature_fraction=1"
    scorer = f"trees[{settings},rounds={2 if quick else 10}]"
    contests = (
        ("lightgbm", "lambdarank", f"lambdarank[norm=true,truncation={longest}]", 0.9),
        ("lightgbm", "lambdarank, truncation 30", "lambdarank[norm=true,truncation=30]", 1.0),
        ("lightgbm", "xe_ndcg", "xe_ndcg", 1.0),
        ("xgboost", "lambdarank", f"lambdarank[truncation={longest}]", 0.75),
    )
    for engine, name, loss, limit in contests:
        with use_threads(threads):
            timings = interleave(
                {
                    "ours": training(engine, scorer, loss, lists),
                    "native": training(f"{engine}[native=true]", scorer, loss, lists),
                },
                rounds,
            )
        what = f"{engine} iterations with {name} over the engine's own, {queries:,} queries"
        headline = queries == 2000 and "truncation" not in name
        yield ratio_row(what, timings, "ours", "native", threads=threads, at_most=limit, headline=headline)


@contextlib.contextmanager
def busy_machine() -> Iterator[None]:
    """Run one busy process per core."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(available_cores())]
    try:
        time.sleep(0.3)
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def measure_threads(rounds: int, quick: bool) -> Iterator[Row]:
    """Measure fits on all threads over one, and beside busy processes over a quiet machine."""
    lists = rp.load(f"synthetic[queries={20 if quick else 300}]").train
    for name, (backend, scorer, loss) in SMALL_FITS.items():
        fit = training(backend, scorer, loss, lists)

        def on_one_thread(fit: SelfTimed = fit) -> float:
            with use_threads(1):
                return fit.run()

        def beside_busy_processes(fit: SelfTimed = fit) -> float:
            with busy_machine():
                return fit.run()

        timings = interleave(
            {"all": fit, "busy": SelfTimed(beside_busy_processes), "one": SelfTimed(on_one_thread)}, rounds
        )
        what = f"{name} fit of {lists.labels.size:,} documents"
        cores = available_cores()
        yield ratio_row(f"{what}, all threads over one", timings, "all", "one", threads=cores, at_most=1.05)
        yield ratio_row(
            f"{what}, busy machine over quiet",
            timings,
            "busy",
            "all",
            threads=cores,
            at_most=2.5,
            headline=name == "torch",
        )


def measure(rounds: int, quick: bool) -> Iterator[Row]:
    """Measure two sizes of data, on one thread and on all."""
    sizes = (40,) if quick else (2000, 6000)
    for queries, threads in itertools.product(sizes, sorted({1, available_cores()})):
        yield from measure_engines(queries, threads, rounds, quick)
    yield from measure_threads(rounds, quick)
