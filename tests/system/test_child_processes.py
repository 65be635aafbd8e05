"""Child processes import nothing from the working folder, and a module beside a notebook is still found."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from rankplug.system import child_command, child_environment, execute_notebook, safe_children

SHADOWED = "import queue, socket, pickle, subprocess, sys; print(subprocess.check_output([sys.executable, '-c', {!r}]))"


@pytest.fixture(autouse=True)
def hostile_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("queue", "socket", "pickle", "runpy", "ipykernel_launcher"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('imported from the working folder')\n")
    (tmp_path / "beside_a_notebook.py").write_text("ANSWER = 42\n")
    monkeypatch.chdir(tmp_path)


def test_commands_have_a_safe_path() -> None:
    code = SHADOWED.format("import queue, socket, pickle; print('fine')")
    printed = subprocess.check_output(child_command("-c", code), env=child_environment(), text=True)
    assert "fine" in printed
    unsafe = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "imported from the working folder" in unsafe.stderr


def answer(name: str) -> tuple[int, str]:
    import queue

    return __import__(name).ANSWER, str(queue.__file__)


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


def test_kernels_of_notebooks_have_a_safe_path(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell("import queue; queue.__file__")]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, tmp_path / "notebook.ipynb")
    execute_notebook(tmp_path / "notebook.ipynb", tmp_path / "executed.ipynb", {}, folder=tmp_path)
    (output,) = nbformat.read(tmp_path / "executed.ipynb", as_version=4).cells[-1].outputs
    assert str(tmp_path) not in output.data["text/plain"]
