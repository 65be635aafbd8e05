"""Memory that runs out and schedulers that die: the trial fails with a reason, the rest of the sweep goes on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankplug as rp
from rankplug.registry import registry
from rankplug.sweeps.on_cluster import ClusterError

PLUGIN = '''
import rankplug as rp


class Greed(rp.Parameters):
    """Parameters of the memory that is taken."""

    how: str = "none"
    where: str = ""


@rp.hookimpl
def rankplug_datasets():
    """One data set that takes more memory than there is."""
    return [rp.DatasetSpecification(name="greedy", summary="takes memory", implementation="greedy_data:load",
                                    parameters=Greed)]
'''
DATA = '''
import mmap
import pathlib
import resource
import time

import numpy as np

import rankplug as rp

BEYOND = 1 << 29


def load(parameters, fold, seed):
    """Twenty queries, after the greed."""
    if parameters.where:
        with open(parameters.where, "a") as log:
            log.write(f"{parameters.how} {seed}\\n")
    if parameters.how != "none" and parameters.how != "slow":
        used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + BEYOND, resource.RLIM_INFINITY))
    if parameters.how == "numpy":
        np.ones(BEYOND, np.float64)
    if parameters.how == "python":
        [bytearray(1 << 20) for _ in range(4096)]
    if parameters.how == "slow":
        time.sleep(1)
    rows = 200_000 if parameters.how == "engine" else 200
    noise = np.random.default_rng([seed, fold])
    features = noise.random((rows, 5 if rows == 200 else 250), np.float32)
    lists = rp.Lists(features, (features[:, 0] * 3).astype(int), np.arange(0, rows + 1, 10))
    return rp.Split(lists, lists, lists)
'''
TINY = {"backend": "lightgbm", "scorer": "trees[rounds=3,min_data=1]", "loss": "mse", "metrics": "ndcg@5"}


@pytest.fixture(autouse=True)
def greedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a distribution with the data set ``greedy`` in this process and in those it starts."""
    folder = tmp_path / "plugin"
    about = folder / "greedy-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "greedy_plugin.py").write_text(PLUGIN)
    (folder / "greedy_data.py").write_text(DATA)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greedy\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[rankplug]\ngreedy = greedy_plugin\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    for name in ("RANKPLUG_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    registry.cache_clear()
    _forget_fork_server()
    yield
    registry.cache_clear()
    _forget_fork_server()


def _forget_fork_server() -> None:
    """Stop the process that workers are forked from, which keeps the search path it was started with."""
    from multiprocessing import forkserver

    forkserver._forkserver._stop()


def failures_of(how: str, folder: Path) -> list[str]:
    grid = {**TINY, "dataset": [f"greedy[how={how}]", "greedy"]}
    outcome = rp.sweep(grid, store=folder / "store", jobs=2, progress=False)
    assert [about["dataset"] for about in outcome.frame().to_dict("records")[:1]] == ["greedy"]
    assert len(outcome.store.failures()) == len(outcome.failures) == 1
    return outcome.failures


@pytest.mark.slow
@pytest.mark.parametrize("how", ["numpy", "python"])
def test_memory_that_runs_out_in_a_worker_fails_its_trial_and_no_other(how: str, tmp_path: Path) -> None:
    assert "DataError: dataset greedy needs more memory than is left" in failures_of(how, tmp_path)[0]


@pytest.mark.slow
def test_memory_that_runs_out_inside_an_engine_fails_its_trial_and_no_other(tmp_path: Path) -> None:
    """The engine is C++, which throws, aborts or is killed; each is told."""
    failure = failures_of("engine", tmp_path)[0]
    assert any(word in failure for word in ("MemoryError", "bad_alloc", "bad allocation", "workers died of it"))


def cgroup_of_its_own() -> Path | None:
    """Make a memory cgroup, if the system lets this process."""
    for root in (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")):
        made = root / f"rankplug-test-{os.getpid()}"
        try:
            made.mkdir()
        except OSError:
            continue
        if (made / "memory.limit_in_bytes").exists() or (made / "memory.max").exists():
            return made
        made.rmdir()
    return None


@pytest.mark.slow
def test_a_worker_that_the_kernel_kills_for_memory_fails_its_trial_and_no_other(tmp_path: Path) -> None:
    group = cgroup_of_its_own()
    if group is None:
        pytest.skip("no memory cgroup can be made here")
    limit = group / ("memory.max" if (group / "memory.max").exists() else "memory.limit_in_bytes")
    limit.write_text(str(1500 << 20))
    program = (
        "import os, pathlib, sys, rankplug as rp\n"
        f"pathlib.Path({str(group / 'cgroup.procs')!r}).write_text(str(os.getpid()))\n"
        f"grid = {{**{TINY!r}, 'dataset': ['greedy[how=hoard]', 'greedy']}}\n"
        f"outcome = rp.sweep(grid, store={str(tmp_path / 'store')!r}, jobs=2, progress=False)\n"
        "print(len(outcome.failures), len(outcome.store.paths()), outcome.failures[0])\n"
    )
    data = (tmp_path / "plugin" / "greedy_data.py").read_text()
    hoard = '    if parameters.how == "hoard":\n        kept = [bytearray(b"x" * (1 << 24)) for _ in range(400)]\n'
    (tmp_path / "plugin" / "greedy_data.py").write_text(
        data.replace('parameters.how != "slow":', 'parameters.how not in ("slow", "hoard"):').replace(
            '    if parameters.how == "numpy"', f'{hoard}    if parameters.how == "numpy"'
        )
    )
    try:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200)
    except subprocess.TimeoutExpired:
        for process in (group / "cgroup.procs").read_text().split():
            os.kill(int(process), signal.SIGKILL)
        raise
    # The process that workers were forked from ends a moment after its owner.
    until = time.monotonic() + 30
    while (group / "cgroup.procs").read_text() and time.monotonic() < until:
        time.sleep(0.1)
    group.rmdir()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 1 ") and "by signal 9, perhaps because memory ran out" in done.stdout


def scheduler(address: str) -> subprocess.Popen[bytes]:
    port = address.rpartition(":")[2]
    program = "from distributed.cli.dask_scheduler import main; main()"
    words = [sys.executable, "-c", program, "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def worker(address: str) -> subprocess.Popen[bytes]:
    program = "from distributed.cli.dask_worker import main; main()"
    words = [
        sys.executable,
        "-c",
        program,
        address,
        "--nthreads",
        "1",
        "--no-dashboard",
        "--no-nanny",
        "--death-timeout",
        "60",
    ]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.mark.slow
def test_a_scheduler_that_dies_ends_the_sweep_with_a_sentence_and_what_was_finished_is_kept(tmp_path: Path) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    log = tmp_path / "log"
    grid = {**TINY, "dataset": f'greedy[how=slow,where="{log}"]'}
    processes = [scheduler(address), worker(address)]

    def kill_after_two() -> None:
        while not log.exists() or len(log.read_text().splitlines()) < 3:
            time.sleep(0.1)
        processes[0].send_signal(signal.SIGKILL)

    assassin = threading.Thread(target=kill_after_two, daemon=True)
    assassin.start()
    try:
        with pytest.raises(ClusterError, match=f"the Dask scheduler at {address} is gone.*run the sweep again"):
            rp.sweep(grid, store=tmp_path / "store", cluster=address, trials=8, progress=False)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    store = rp.Store(tmp_path / "store")
    finished = len(store.paths())
    assert finished >= 1 and not store.failures()
    rest = rp.sweep(grid, store=store, trials=8, progress=False)
    assert (len(rest.plan.done), len(rest.plan.waiting)) == (finished, 8 - finished)
