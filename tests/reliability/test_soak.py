"""A long sweep under every kind of trouble at once ends complete, in flat memory, with nothing run twice.

``RANKPLUG_SOAK`` is the number of combinations, 500 by default. While they run in two worker processes, workers are
killed at random, writes into the store fail as on a full disk, and the workers' clocks jump by days.
"""

from __future__ import annotations

import errno
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rankplug as rp
from rankplug.registry import registry
from rankplug.store.result_files import StoreError

COMBINATIONS = int(os.environ.get("RANKPLUG_SOAK", "500"))
SECONDS_BETWEEN_KILLS = (1.0, 6.0)
WRITES_UNTIL_THE_DISK_IS_FULL = (20, 120)
GROWTH_ALLOWED = 64 << 20
PLUGIN = '''
import rankplug as rp


class Soak(rp.Parameters):
    """Which of many equal data sets, and where it writes that it was loaded."""

    number: int = 0
    where: str = ""


@rp.hookimpl
def rankplug_datasets():
    """Made data in a process whose clock jumps."""
    return [rp.DatasetSpecification(name="soak", summary="made data", implementation="soak_data:load", parameters=Soak)]
'''
DATA = '''
import os
import random
import time

import numpy as np

import rankplug as rp

_time, _counter = time.time, time.perf_counter


def load(parameters, fold, seed):
    """Ten queries; the clock of this process goes on, back or ahead by days."""
    jump = random.Random(f"{parameters.number} {os.getpid()}").uniform(-1e6, 1e6)
    time.time = lambda: _time() + jump
    with open(parameters.where, "a") as log:
        log.write(f"{parameters.number} {os.getpid()}\\n")
    noise = np.random.default_rng([seed, parameters.number])
    features = noise.random((60, 4), np.float32)
    lists = rp.Lists(features, (features[:, 0] * 3).astype(int), np.arange(0, 61, 6))
    return rp.Split(lists, lists, lists)
'''


@pytest.fixture
def soak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a distribution with the data set ``soak`` in this process and in those it starts."""
    from multiprocessing import forkserver

    folder = tmp_path / "plugin"
    about = folder / "soak-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "soak_plugin.py").write_text(PLUGIN)
    (folder / "soak_data.py").write_text(DATA)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: soak\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[rankplug]\nsoak = soak_plugin\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    for name in ("RANKPLUG_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    registry.cache_clear()
    # The process that workers are forked from keeps the search path it was started with.
    forkserver._forkserver._stop()
    yield
    registry.cache_clear()
    forkserver._forkserver._stop()


def resident() -> int:
    """Return bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Trouble:
    """Kills workers, fills the disk and watches memory, until it is told to stop."""

    def __init__(self, log: Path, chance: random.Random) -> None:
        self.log, self.chance = log, chance
        self.kills = self.fillings = 0
        self.sizes: list[int] = []
        self.left = self._room()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._kill, self._watch)]

    def __enter__(self) -> Trouble:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _room(self) -> int:
        return self.chance.randint(*WRITES_UNTIL_THE_DISK_IS_FULL)

    def _kill(self) -> None:
        while not self._stop.wait(self.chance.uniform(*SECONDS_BETWEEN_KILLS)):
            lines = self.log.read_text().splitlines() if self.log.exists() else []
            for worker in {int(line.split()[1]) for line in lines[-2:]}:
                if Path(f"/proc/{worker}").exists():
                    os.kill(worker, signal.SIGKILL)
                    self.kills += 1
                    break

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            self.sizes.append(resident())

    def fsync(self, descriptor: int) -> None:
        """Write to disk until it is full; someone then makes room."""
        self.left -= 1
        if self.left <= 0:
            self.left = self._room()
            self.fillings += 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_long_troubled_sweep_ends_complete_in_flat_memory_and_runs_nothing_twice(
    soak: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    log, store = tmp_path / "log", rp.Store(tmp_path / "store")
    grid = {
        "dataset": [f'soak[number={number},where="{log}"]' for number in range(COMBINATIONS)],
        "backend": "lightgbm",
        "scorer": "trees[rounds=3,leaves=3,min_data=1]",
        "loss": "mse",
        "metrics": "ndcg@5",
    }
    began, sweeps, lost = time.monotonic(), 0, 0
    with Trouble(log, random.Random(0)) as trouble:
        monkeypatch.setattr(os, "fsync", trouble.fsync)
        while len(store.paths()) < COMBINATIONS:
            sweeps += 1
            assert sweeps < COMBINATIONS, "it never ends"
            assert all("workers died of it" in record["failure"] for record in store.failures())
            before = len(store.paths())
            try:
                rp.sweep(grid, store=store, jobs=2, progress=False, retry_failed=True)
            except StoreError as error:
                if "No space left on device; free space" not in str(error):
                    raise
                lost += 1
            assert len(store.paths()) >= before
    monkeypatch.undo()
    loaded = Counter(int(line.split()[0]) for line in log.read_text().splitlines())
    repeated = sum(loaded.values()) - COMBINATIONS
    warm, last = trouble.sizes[len(trouble.sizes) // 4 :], trouble.sizes[-len(trouble.sizes) // 4 :]
    growth = min(last) - min(warm)
    facts = {
        "combinations": COMBINATIONS, "seconds": round(time.monotonic() - began), "sweeps": sweeps,
        "kills": trouble.kills, "full disks": trouble.fillings, "loads repeated": repeated,
        "MiB at first": warm[0] >> 20, "MiB at last": last[-1] >> 20, "MiB growth": growth >> 20,
    }  # fmt: skip
    for name, value in facts.items():
        record_property(name, value)
    print(facts)
    assert len(store.paths()) == COMBINATIONS == len(loaded) and not store.failures()
    assert not list(store.folder.rglob("*.tmp"))
    # A killed worker takes one trial with it, a full disk those of both workers.
    assert repeated <= trouble.kills + 2 * trouble.fillings
    assert trouble.kills > 0 and trouble.fillings == lost
    assert growth < GROWTH_ALLOWED
    again = rp.sweep(grid, store=store, jobs=2, progress=False)
    assert len(again.plan.done) == COMBINATIONS and not again.plan.waiting
    assert sum(Counter(log.read_text().splitlines()).values()) == COMBINATIONS + repeated
