"""Functions of one list are lifted over all: the same on any number of threads, compiled once for all processes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import rankplug as rp

METRIC = """
    from numba import njit

    from kernel_constants import OFFSET
    from rankplug import list_metric

    @njit
    def top(ranked):
        return ranked[0] + OFFSET

    @list_metric
    def weighted_top(ranked, weight):
        return weight * top(ranked)
"""
RUN = """
    import numpy as np
    import my_kernel
    from rankplug.compiled import make
    template = "def lifted(ranked, weight):\\n    return one_list(ranked, weight)\\n"
    lifted = make(template, {"one_list": my_kernel.weighted_top})
    value = lifted(np.array([4.0, 1.0]), 2.0)
    print(value, sum(lifted.dispatcher.stats.cache_hits.values()), sum(lifted.dispatcher.stats.cache_misses.values()))
"""


@pytest.fixture
def module(tmp_path):
    """Make a module with a metric, a cache folder of its own, and a way to run it in a fresh process."""
    cache = tmp_path / "cache"

    class MetricModule:
        folder = cache / "kernels"

        def write(self, source: str = METRIC, offset: float = 0.0) -> None:
            (tmp_path / "my_kernel.py").write_text(textwrap.dedent(source))
            (tmp_path / "kernel_constants.py").write_text(f"OFFSET = {offset}\n")

        def run(self, code: str = RUN) -> str:
            environment = os.environ | {
                "RANKPLUG_CACHE": str(cache),
                "PYTHONPATH": str(tmp_path),
                "PYTHONDONTWRITEBYTECODE": "1",
            }
            done = subprocess.run(
                [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=environment
            )
            assert done.returncode == 0, done.stderr
            return done.stdout.strip()

        def files(self) -> list[str]:
            return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())

        def versions(self) -> list[str]:
            return sorted(path.stem for path in self.folder.glob("my_kernel.weighted_top-*.py"))

    made = MetricModule()
    made.write()
    return made


def test_compiled_forms_are_shared_by_processes_until_an_edit(module):
    assert module.run() == "8.0 0 1"
    files = module.files()
    assert len(module.versions()) == 1
    assert module.run() == "8.0 1 0"
    assert module.files() == files
    module.write(METRIC.replace("ranked[0] + OFFSET", "ranked[0] * 2 + OFFSET"), offset=10.0)
    assert module.run() == "36.0 0 1"
    assert len(module.versions()) == 2


def test_results_do_not_depend_on_the_number_of_threads():
    generator = np.random.default_rng(5)
    starts = np.concatenate(([0], np.cumsum(generator.integers(1, 400, 60))))
    scores, labels = generator.normal(size=starts[-1]), generator.integers(0, 5, starts[-1])
    results = []
    for number in (1, 2, 5):
        with rp.use_threads(number):
            results.append(
                rp.loss("cross_entropy").evaluate(scores, labels, starts, sampler="gumbel[samples=3]", seed=9)
            )
    for other in results[1:]:
        assert all(np.array_equal(*pair) for pair in zip(results[0], other, strict=True))


def test_noise_of_a_list_does_not_depend_on_the_lists_beside_it():
    bound = rp.loss("cross_entropy").on([1, 0, 2, 0, 1], [0, 2, 5], sampler="gumbel[samples=2]", seed=3)
    whole = bound([0.1, 0.2, 0.3, 0.4, 0.5], iteration=7)
    alone = bound([0.3, 0.4, 0.5], iteration=7, lists=[1])
    assert np.array_equal(whole.gradient[2:], alone.gradient) and whole.value[1] == alone.value[0]


STARTS = np.concatenate(([0], np.cumsum(np.arange(2, 45))))
GENERATOR = np.random.default_rng(20)
SCORES, LABELS = GENERATOR.normal(size=STARTS[-1]), GENERATOR.integers(0, 5, STARTS[-1])


LOSSES = [
    "softrank",
    *(
        pytest.param(loss, marks=pytest.mark.slow)
        for loss in ("convex_loss[gain=map]", "logrank_mle[rankings=sampled]", "ranknet")
    ),
]


@pytest.mark.parametrize("loss", LOSSES)
def test_every_digit_is_the_same_wherever_arrays_lie(loss):
    held: list[list[np.ndarray]] = []
    first = None
    for trial in range(25):
        held = [*held[-2:], [np.empty(size) for size in GENERATOR.integers(1, 60, 200)][:: 1 + trial % 2]]
        result = rp.loss(loss).evaluate(SCORES.copy(), LABELS, STARTS)
        first = first or result
        for one, other in zip(first, result, strict=True):
            assert (one == other).all()
