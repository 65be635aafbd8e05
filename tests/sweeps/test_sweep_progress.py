"""The progress of a sweep is true, and its estimate is made of the trials it has seen."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from rankplug.store import Combination, Trial
from rankplug.sweeps._progress import SweepProgress


@pytest.fixture
def clock(monkeypatch):
    """Set the time by hand."""
    clock = SimpleNamespace(now=1_000_000.0)
    monkeypatch.setattr(time, "time", lambda: clock.now)
    return clock


def trials(scorer: str, count: int) -> list[Trial]:
    combination = Combination(dataset="synthetic", backend="lightgbm", scorer=scorer, loss="mse")
    return [Trial(combination, 1, number) for number in range(count)]


def run(progress: SweepProgress, clock: SimpleNamespace, trial: Trial, seconds: float, failure: str = "") -> None:
    progress.begun([trial])
    clock.now += seconds
    progress.ended(trial, failure)


def test_trials_are_expected_to_take_as_long_as_those_of_the_same_kind(clock):
    quick, slow = trials("trees[rounds=1]", 3), trials("trees[rounds=900]", 3)
    progress = SweepProgress([*quick, *slow], slots=1, show=False)
    run(progress, clock, quick[0], 2)
    assert progress.seconds_left() == pytest.approx(5 * 2)
    run(progress, clock, slow[0], 100)
    assert progress.seconds_left() == pytest.approx(2 * 2 + 2 * 100)


def test_workers_share_what_is_left_and_running_trials_count_for_the_rest_of_their_time(clock):
    many = trials("trees", 5)
    progress = SweepProgress(many, slots=2, show=False)
    run(progress, clock, many[0], 10)
    progress.begun(many[1:3])
    clock.now += 4
    assert progress.seconds_left() == pytest.approx((6 + 6 + 10 + 10) / 2)
    assert str(progress) == "1 done, 2 running, 0 failed, 2 left, about 16 s to go"
