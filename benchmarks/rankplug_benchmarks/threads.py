"""All threads beside one, and a busy machine beside a quiet one, for every backend.

All threads are never to be slower than one, from a few thousand documents to as many as MSLR-WEB30K has for training.
And a fit beside as many busy processes as there are cores is to take at most two and a half times as long as alone:
with half of the machine it cannot take less than about two, unless it leaves threads unused when it is alone.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import rankplug as rp
from rankplug.system import available_cores, use_threads
from rankplug_benchmarks.harness.measurements import Measurement, at_most, measured
from rankplug_benchmarks.harness.rounds import SelfTimedContestant, by_turns
from rankplug_benchmarks.harness.subjects import Effort
from rankplug_benchmarks.mslr_shape import whole_lists

BUSY = "while True: pass"
SETTLING = 0.3
"""Seconds until busy processes are busy."""
NOISE = 1.05
"""Two times of the same thing differ by a few percent; more than that is slower."""
MOST_WHEN_BUSY = 2.5


@dataclass(frozen=True)
class Fit:
    """A training that every size of data takes part in.

    Args:
        backend: its name; what is in braces is the number of iterations.
        scorer: what is fitted, likewise.
        loss: what is minimised.
        iterations: on small data, on data of middle size and on large data.
    """

    backend: str
    scorer: str
    loss: str
    iterations: tuple[int, int, int]

    def seconds(self, lists: rp.Lists, size: int) -> float:
        """Return the seconds that its iterations take; the preparation of the data is left out."""
        backend, scorer = (name.format(self.iterations[size]) for name in (self.backend, self.scorer))
        model = rp.fit(backend, scorer=scorer, loss=self.loss, train=lists, train_curve=False, progress=False)
        return float(model.record.seconds["training"])


FITS = (
    Fit("lightgbm", "trees[leaves=15,learning_rate=0.1,rounds={},l2=0,feature_fraction=1]", "xe_ndcg", (100, 100, 5)),
    Fit("xgboost", "trees[leaves=15,learning_rate=0.1,rounds={},l2=0,feature_fraction=1]", "xe_ndcg", (100, 100, 5)),
    Fit("torch[epochs={},lr=0.001,batch=128,l2=0,schedule=constant,scaling=none]", "mlp", "xe_ndcg", (20, 20, 1)),
    Fit("lbfgs[C=1,iterations={},scaling=none]", "linear", "xe_ndcg", (100, 100, 3)),
    Fit("cutting_planes[C=1,planes={},scaling=none]", "linear", "ranksvm", (20, 20, 2)),
    Fit("rankboost", "stumps[rounds={}]", "rankboost", (20, 20, 1)),
)
SIZES = ("16,000 documents", "23,000 documents", "2.3 million documents")


def lists_of(size: int, effort: Effort) -> rp.Lists:
    """Return training data of one of the sizes."""
    if size == 0:
        return rp.load(f"synthetic[queries={effort.size(667, 20)},documents=40]").train
    if size == 1:
        return rp.load(f"synthetic[queries={effort.size(300, 20)}]").train
    return whole_lists(effort.size(18_919, 20))


@contextlib.contextmanager
def busy_machine(processes: int) -> Iterator[None]:
    """Run as many processes beside us that do nothing but compute."""
    started = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    try:
        time.sleep(SETTLING)
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def measure_threads(fit: Fit, lists: rp.Lists, size: int, effort: Effort) -> Measurement:
    """Time a fit as users start it, on a machine whose threads all are free, over one on one thread."""

    def on_one() -> float:
        with use_threads(1):
            return fit.seconds(lists, size)

    contestants = {"all": SelfTimedContestant(lambda: fit.seconds(lists, size)), "one": SelfTimedContestant(on_one)}
    return measured(
        f"{fit.backend.partition('[')[0]}, {SIZES[size]}: fit on all threads over one thread",
        by_turns(contestants, effort.rounds) if size < 2 else by_turns(contestants, 1, warm_up=0),
        lambda seconds: seconds["all"] / seconds["one"],
        threads=available_cores(),
        target=at_most(NOISE),
    )


def measure_busy(fit: Fit, lists: rp.Lists, effort: Effort) -> Measurement:
    """Time a fit as users start it, beside busy processes and without them."""
    cores = available_cores()

    def beside() -> float:
        with busy_machine(cores):
            return fit.seconds(lists, 1)

    contestants = {"busy": SelfTimedContestant(beside), "quiet": SelfTimedContestant(lambda: fit.seconds(lists, 1))}
    return measured(
        f"{fit.backend.partition('[')[0]}, {SIZES[1]}: fit beside {cores} busy processes over quiet",
        by_turns(contestants, effort.rounds),
        lambda seconds: seconds["busy"] / seconds["quiet"],
        threads=cores,
        target=at_most(MOST_WHEN_BUSY),
    )


def measure(effort: Effort) -> Iterator[Measurement]:
    """Measure every backend on data of every size, and beside busy processes."""
    for size in range(len(SIZES)):
        lists = lists_of(size, effort)
        for fit in FITS:
            yield measure_threads(fit, lists, size, effort)
            if size == 1:
                yield measure_busy(fit, lists, effort)
