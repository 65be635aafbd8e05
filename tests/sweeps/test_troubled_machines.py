"""Trouble of the machine costs no combination its name: the trial runs after all, or is left to the next sweep."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rankplug.cli import sentence_of
from rankplug.errors import DataError
from rankplug.store import Store
from rankplug.sweeps import sweep
from rankplug.system import is_environment_error

pytestmark = pytest.mark.usefixtures("trouble")

GRID = {"backend": "lightgbm", "scorer": "trees[rounds=3,min_data=1]", "loss": ["mse", "ranknet"], "metrics": "ndcg@5"}
WAYS = [
    pytest.param(["--jobs", "2"], id="processes"),
    pytest.param(["--notebooks", "--jobs", "2"], id="notebooks", marks=pytest.mark.slow),
]


def start(folder: Path, *options: str, **more: Any) -> subprocess.Popen[str]:
    words = ["dataset=trouble", "backend=lightgbm", f"scorer={GRID['scorer']}", "loss=[mse,ranknet]"]
    program = "from rankplug.cli import main; main()"
    arguments = [sys.executable, "-c", program, "sweep", *words, "metrics=ndcg@5", "--store", str(folder / "store")]
    return subprocess.Popen([*arguments, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def output(process: subprocess.Popen[str], seconds: float = 300) -> str:
    return process.communicate(timeout=seconds)[0]


def children(process: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{process}/task").glob("*/children"))
        return [int(word) for path in tasks for word in path.read_text().split()]
    except OSError:
        return []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("way", WAYS)
def test_trials_run_after_all_when_what_their_processes_are_forked_from_is_killed(tmp_path, way):
    process = start(tmp_path, *way)
    killed: set[int] = set()
    while process.poll() is None and len(killed) < 2:
        for child in children(process.pid):
            command = Path(f"/proc/{child}/cmdline").read_bytes() if child not in killed else b""
            if b"forkserver import main" in command or b"fork_server import main" in command:
                os.kill(child, signal.SIGKILL)
                killed.add(child)
        time.sleep(0.05)
    said = output(process)
    assert process.returncode == 0, said
    assert len(killed) == 2
    store = Store(tmp_path / "store")
    assert len(store.paths()) == 2 and not store.failures()


def test_a_full_disk_under_the_data_is_no_fault_of_the_combination(tmp_path):
    outcome = sweep({**GRID, "dataset": ["trouble[how=full]", "trouble"]}, store=tmp_path, progress=False)
    assert len(outcome.not_run) == 2 and "No space left on device" in outcome.not_run[0]
    assert not outcome.failures and not outcome.store.failures()
    assert len(outcome.store.paths()) == 2


def test_errors_of_the_machine_are_told_from_those_of_a_plugin(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKPLUG_CACHE", str(tmp_path))
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    wrapped = DataError("cannot be prepared")
    wrapped.__cause__ = full
    in_cache = PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(tmp_path / "kernels" / "a.py"))
    of_loader = ImportError("libgomp.so.1: cannot open shared object file: Too many open files")
    no_memory = ImportError("libtorch_cpu.so: failed to map segment from shared object")
    too_many = OSError(errno.EMFILE, "Too many open files")
    assert all(map(is_environment_error, [full, wrapped, in_cache, of_loader, no_memory, too_many]))
    assert "run the same command again" in sentence_of(no_memory) and "defect" not in sentence_of(no_memory)
    elsewhere = PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/root/a.txt")
    assert not any(
        map(is_environment_error, [ValueError("no"), elsewhere, FileNotFoundError(2, "no", "x"), MemoryError()])
    )
