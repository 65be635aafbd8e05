"""Observers of trials do not stop them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import rankplug as rp
from rankplug.registry import registry
from rankplug.store import Combination, Result, Trial
from rankplug.sweeps._trial_runs import run_trial

GRID = {
    "dataset": "synthetic[queries=20,documents=5]",
    "backend": "lightgbm",
    "scorer": "trees[rounds=3,leaves=3,min_data=1]",
    "loss": "mse",
    "metrics": ["ndcg@5"],
}


class PanicError(BaseException):
    """Error that an extension in another language raises."""


def leave() -> None:
    sys.exit(0)


def panic() -> None:
    raise PanicError("index out of bounds")


def fail() -> None:
    raise ValueError("no")


@pytest.fixture
def observe():
    """Register observers until the test ends."""
    there: list[object] = []

    def add(observer: object) -> None:
        registry().manager.register(observer)
        there.append(observer)

    yield add
    for observer in there:
        registry().manager.unregister(observer)


@pytest.fixture(scope="module")
def undisturbed():
    return run_trial(Trial(Combination(**GRID)), progress=False)


@pytest.mark.parametrize(
    ("act", "said"), [(leave, "SystemExit: 0"), (panic, "PanicError: index"), (fail, "ValueError: no")]
)
def test_a_failing_observer_is_a_warning(observe, undisturbed, act, said):
    assert not undisturbed.failed, undisturbed.failure
    seen = []

    class Bad:
        @rp.hookimpl
        def rankplug_trial_started(self) -> None:
            act()

        @rp.hookimpl
        def rankplug_trial_progressed(self) -> None:
            act()

        @rp.hookimpl
        def rankplug_trial_finished(self) -> None:
            act()

    class Good:
        @rp.hookimpl
        def rankplug_trial_finished(self, result: Result) -> None:
            seen.append(result)

    observe(Good())
    observe(Bad())
    with pytest.warns(UserWarning, match=f"an observer failed in rankplug_trial_progressed: {said}"):
        result = run_trial(Trial(Combination(**GRID)), progress=False)
    assert np.array_equal(result.queries["ndcg@5"], undisturbed.queries["ndcg@5"], equal_nan=True) and len(seen) == 1


@pytest.mark.parametrize("act", [leave, panic])
def test_a_trial_that_exits_is_a_failure_of_its_own(monkeypatch, act):
    monkeypatch.setattr("rankplug.sweeps._trial_runs._run", lambda *_: act())
    result = run_trial(Trial(Combination(**GRID)), progress=False)
    assert result.failed and result.reason.partition(":")[0].endswith(("SystemExit", "PanicError"))
