"""A sweep that is killed, at any moment, loses at most the trials it was in; what it finished is not run again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from rankplug.store import Store
from rankplug.sweeps import sweep

pytestmark = pytest.mark.usefixtures("trouble")

TRIALS = 4
WORDS = ["backend=lightgbm", "scorer=trees[rounds=3,min_data=1]", "loss=[mse,ranknet]", "metrics=ndcg@5"]
WAYS = {"in process": [], "processes": ["--jobs", "2"], "notebooks": ["--notebooks", "--jobs", "2"]}


def start(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    program = "from rankplug.cli import main; main()"
    words = ["sweep", f'dataset=trouble[how=slow,where="{folder}"]', *WORDS]
    arguments = [*words, "--store", str(folder / "store"), "--trials", str(TRIALS), *options]
    with (folder / "output").open("ab") as output:
        return subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=output, stderr=output)


def loaded(folder: Path) -> list[str]:
    log = folder / "log"
    return [line.rsplit(" ", 1)[0] for line in log.read_text().splitlines()] if log.exists() else []


def undisturbed(folder: Path) -> pd.DataFrame:
    grid = {"dataset": f'trouble[where="{folder}"]', "backend": "lightgbm", "loss": ["mse", "ranknet"],
            "scorer": "trees[rounds=3,min_data=1]", "metrics": "ndcg@5"}  # fmt: skip
    return comparable(sweep(grid, store=Store(folder / "undisturbed"), trials=TRIALS, progress=False).store)


def comparable(store: Store) -> pd.DataFrame:
    frame = store.frame()[["loss", "trial", "measure", "part", "metric", "iteration", "query", "value"]]
    return frame.sort_values(list(frame.columns), kind="stable", ignore_index=True)


def finished(folder: Path) -> int:
    return len(Store(folder / "store").paths())


def kill_and_resume(folder: Path, way: str, kills: int) -> None:
    moments = random.Random(kills)
    for _ in range(kills):
        process = start(folder, *WAYS[way])
        wait_until(lambda: finished(folder) > 0)
        time.sleep(moments.random() * 1.5)
        done = finished(folder)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert finished(folder) >= done
    wait_until_quiet(folder)
    last = start(folder, *WAYS[way])
    assert last.wait(120) == 0, (folder / "output").read_text()
    pd.testing.assert_frame_equal(comparable(Store(folder / "store")), undisturbed(folder / "other"))
    at_once = 2 if "--jobs" in WAYS[way] else 1
    assert len(loaded(folder)) <= 2 * TRIALS + kills * at_once


def wait_until(condition: object, seconds: float = 90) -> None:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:  # type: ignore[operator]
        time.sleep(0.05)


def wait_until_quiet(folder: Path) -> None:
    """Wait until the workers of killed sweeps have noticed."""
    ids = {int(line.rsplit(" ", 1)[1]) for line in (folder / "log").read_text().splitlines()}
    wait_until(lambda: not any(Path(f"/proc/{process}").exists() for process in ids if process != os.getpid()), 10)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "other").mkdir()
    return tmp_path


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("way", "kills"), [("in process", 3), ("processes", 1), ("processes", 3), ("notebooks", 2)])
def test_sweeps_killed_at_random_moments_end_as_undisturbed_ones(folder, way, kills):
    kill_and_resume(folder, way, kills)


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True])
def test_two_sweeps_on_one_store_share_the_work(folder, killed):
    first, second = start(folder), start(folder)
    if killed:
        wait_until(lambda: finished(folder) > 0)
        first.send_signal(signal.SIGKILL)
    assert [first.wait(120), second.wait(120)] == [-signal.SIGKILL if killed else 0, 0]
    assert 2 * TRIALS <= len(loaded(folder)) <= 2 * TRIALS + killed
    pd.testing.assert_frame_equal(comparable(Store(folder / "store")), undisturbed(folder / "other"))


@pytest.mark.slow
@pytest.mark.parametrize("way", list(WAYS))
def test_an_interrupted_sweep_ends_at_once_and_keeps_what_is_finished(folder, way):
    process = start(folder, *WAYS[way])
    wait_until(lambda: finished(folder) > 0)
    done = finished(folder)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) != 0
    assert done <= finished(folder) < 2 * TRIALS
    assert not Store(folder / "store").failures()
    wait_until_quiet(folder)
    assert not list((folder / "store" / ".locks").glob("*.lock"))
    assert start(folder, *WAYS[way]).wait(120) == 0
    assert finished(folder) == 2 * TRIALS
