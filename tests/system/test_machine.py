"""Children import nothing from the working folder; training that cannot fit into memory is refused."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest

import rankplug as rp
from rankplug.errors import FitError
from rankplug.system import child_command, child_environment, execute_notebook, machine, safe_children

SHADOWED = "import queue, socket, pickle, subprocess, sys; print(subprocess.check_output([sys.executable, '-c', {!r}]))"


@pytest.fixture
def hostile_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("queue", "socket", "pickle", "runpy", "ipykernel_launcher"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('imported from the working folder')\n")
    (tmp_path / "beside_a_notebook.py").write_text("ANSWER = 42\n")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("hostile_folder")
def test_commands_have_a_safe_path() -> None:
    code = SHADOWED.format("import queue, socket, pickle; print('fine')")
    printed = subprocess.check_output(child_command("-c", code), env=child_environment(), text=True)
    assert "fine" in printed
    unsafe = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "imported from the working folder" in unsafe.stderr


def answer(name: str) -> tuple[int, str]:
    import queue

    return __import__(name).ANSWER, str(queue.__file__)


@pytest.mark.usefixtures("hostile_folder")
def test_multiprocessing_has_a_safe_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend("")
    path, context = sys.path[:], multiprocessing.get_context("spawn")
    monkeypatch.setattr(multiprocessing.process, "ORIGINAL_DIR", str(tmp_path))
    with safe_children(), context.Pool(1) as pool:
        assert sys.path[-1] == ""
        number, queue = pool.apply(answer, ["beside_a_notebook"])
    assert number == 42
    assert not queue.startswith(str(tmp_path))
    assert sys.path == path and "PYTHONSAFEPATH" not in os.environ


@pytest.mark.usefixtures("hostile_folder")
def test_kernels_of_notebooks_have_a_safe_path(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell("import queue; queue.__file__")]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, tmp_path / "notebook.ipynb")
    execute_notebook(tmp_path / "notebook.ipynb", tmp_path / "executed.ipynb", {}, folder=tmp_path)
    (output,) = nbformat.read(tmp_path / "executed.ipynb", as_version=4).cells[-1].outputs
    assert str(tmp_path) not in output.data["text/plain"]


def test_the_limit_of_a_container_counts_where_it_is_lower(tmp_path, monkeypatch):
    for name, text in (
        ("MEMORY_OF_MACHINE", "MemTotal: 9 kB\nMemAvailable:   8000 kB\n"),
        ("LIMIT_OF_GROUP", "5000000\n"),
        ("USE_OF_GROUP", "1000000\n"),
    ):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(machine, name, tmp_path / name)
    assert machine.available_memory() == 4_000_000
    (tmp_path / "LIMIT_OF_GROUP").write_text("max\n")
    assert machine.available_memory() == 8_000 * 1024
    (tmp_path / "MEMORY_OF_MACHINE").unlink()
    assert machine.available_memory() is None


@pytest.mark.parametrize("backend", ["lightgbm", "xgboost"])
def test_bins_that_cannot_be_held_are_refused_before_training(backend, monkeypatch):
    lists = rp.Lists(np.zeros((100, 20), np.float32), np.zeros(100), [0, 100])
    monkeypatch.setattr(machine, "available_memory", lambda: 1999)
    with pytest.raises(FitError, match=f"backend {backend} needs at least .* GiB of memory"):
        rp.fit(backend, loss="cross_entropy", train=lists)
