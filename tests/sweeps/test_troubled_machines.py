"""Trouble of the machine costs no combination its name: the trial runs after all, or is left to the next sweep."""

from __future__ import annotations

import errno
import os
import resource
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
from rankplug.system import SocketFolder, is_environment_error

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


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (17, 17))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_trials_that_lack_open_files_are_not_recorded_as_failed(tmp_path, way):
    process = start(tmp_path, *way, preexec_fn=few_files)
    said = output(process)
    store = Store(tmp_path / "store")
    assert not store.failures(), said
    if process.returncode != 0:
        assert "Too many open files" in said
        assert "trials could not run, and nothing is recorded of them; the same command runs them" in said
    rest = start(tmp_path)
    assert "0 failed" in output(rest) and rest.returncode == 0
    assert len(store.paths()) == 2


@pytest.mark.slow
def test_trials_that_cannot_use_the_cache_run_all_the_same_and_say_so(tmp_path):
    (tmp_path / "file").touch()
    process = start(tmp_path, env={**os.environ, "RANKPLUG_CACHE": str(tmp_path / "file" / "cache")})
    said = output(process)
    assert process.returncode == 0, said
    assert "compiled code cannot be kept" in said and str(tmp_path / "file") in said
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


def test_folders_for_sockets_go_with_their_owner(tmp_path, monkeypatch):
    monkeypatch.setattr("rankplug.system.folders.tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("rankplug.system.folders.has_room", lambda folder: True)
    program = (
        "import os, tempfile; tempfile.tempdir = os.environ['WHERE']; import rankplug.system.folders as sockets;"
        " sockets.has_room = lambda folder: True; folder = sockets.SocketFolder(); print(folder.path);"
        " os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "WHERE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    abandoned = Path(done.stdout.strip())
    assert abandoned.is_dir()
    first, second = SocketFolder(), SocketFolder()
    assert not abandoned.exists()
    assert Path(first.path).is_dir() and Path(second.path).is_dir()
    first.remove()
    second.remove()
    assert not list(tmp_path.iterdir())
