"""Forked kernels give the notebooks that plain papermill gives, apart from each other, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.exceptions import PapermillExecutionError
from rankplug_jupyter.forking import ForkedProcess, ForkServer
from rankplug_jupyter.provisioner import kernel_arguments

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only"),
    pytest.mark.xdist_group("forked kernels"),
]


def write_notebook(folder: Path, *cells: str) -> Path:
    notebook = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    )
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    notebook.cells[0].metadata["tags"] = ["parameters"]
    path = folder / "in.ipynb"
    nbformat.write(notebook, path)
    return path


def run(folder: Path, *cells: str, engine: str | None = "rankplug", **options: Any) -> nbformat.NotebookNode:
    source = write_notebook(folder, *cells)
    papermill.execute_notebook(
        source, folder / "out.ipynb", engine_name=engine, progress_bar=False, cwd=folder, **options
    )
    return nbformat.read(folder / "out.ipynb", as_version=4)


def printed(notebook: nbformat.NotebookNode, cell: int = -1) -> str:
    outputs = [output.text for output in notebook.cells[cell].outputs if output.output_type == "stream"]
    return "".join(outputs).strip()


def gone(process: int, within: float = 5.0) -> bool:
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
def test_the_same_notebook_comes_out_as_from_plain_papermill(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("answer = 42\n")
    cells = (
        "x = 1",
        "import neighbour, os, sys\nprint(x, __name__, neighbour.answer, os.getcwd(), sys.argv[0])\nx",
        "import matplotlib.pyplot as plt\nplt.plot([1, x]);",
        "import pandas\npandas.DataFrame({'a': [1, x]})",
        "from tqdm.auto import tqdm\nprint(tqdm.__module__, '' in sys.path, plt.get_backend(), file=sys.stderr)",
    )
    forked = run(tmp_path, *cells, parameters={"x": 7})
    plain = run(tmp_path, *cells, parameters={"x": 7}, engine=None)
    assert len(forked.cells) == len(cells) + 1
    for ours, theirs in zip(forked.cells, plain.cells, strict=True):
        assert ours.source == theirs.source
        assert ours.execution_count == theirs.execution_count
        assert [dict(output) for output in ours.outputs] == [dict(output) for output in theirs.outputs]
        assert ours.metadata.papermill.status == theirs.metadata.papermill.status == "completed"
        assert ours.metadata.papermill.duration >= 0
    assert forked.metadata.papermill.parameters == {"x": 7}
    assert forked.metadata.papermill.exception is None
    assert forked.metadata.language_info == plain.metadata.language_info
    assert "image/png" in forked.cells[3].outputs[0].data


def test_nothing_passes_from_one_notebook_to_the_next(tmp_path: Path) -> None:
    cells = (
        "x = 1",
        "import os, random, numpy, torch, pandas, threadpoolctl",
        "print('left' in globals(), hasattr(numpy, 'left'), 'LEFT' in os.environ, pandas.get_option('display.width'))",
        "print(torch.get_num_threads())",
        "print(random.random(), numpy.random.rand(), torch.rand(1).item(), os.getpid())",
        "left = numpy.left = 1; os.environ['LEFT'] = '1'; pandas.set_option('display.width', 33)\n"
        "torch.set_num_threads(5); numpy.random.seed(0); torch.manual_seed(0)",
    )
    first, second = run(tmp_path, *cells), run(tmp_path, *cells)
    assert printed(first, 2) == printed(second, 2) == "False False False 80"
    assert printed(first, 3) == printed(second, 3) != "5"
    numbers = zip(printed(first, 4).split(), printed(second, 4).split(), strict=True)
    assert all(one != other for one, other in numbers)


@pytest.mark.slow
def test_engines_compute_on_as_many_threads_as_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for threads in ("2", "1"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        notebook = run(
            tmp_path,
            "x = 1",
            "import numpy, torch, lightgbm, xgboost, threadpoolctl\nrows = numpy.random.rand(2000, 20)",
            "rows @ rows.T; torch.rand(800, 800) @ torch.rand(800, 800)",
            "lightgbm.train({'verbose': -1}, lightgbm.Dataset(rows, rows[:, 0]), 3)",
            "xgboost.train({'nthread': 2}, xgboost.DMatrix(rows, rows[:, 0]), 3)",
            "pools = threadpoolctl.threadpool_info()\n"
            "print({pool['num_threads'] for pool in pools}, torch.get_num_threads())",
        )
        assert printed(notebook) == f"{{{threads}}} {threads}"


def test_a_failing_cell_stops_the_notebook_and_is_kept(tmp_path: Path) -> None:
    with pytest.raises(PapermillExecutionError, match="division by zero"):
        run(tmp_path, "x = 1", "1 / 0", "print('never')")
    notebook = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    failed = next(cell for cell in notebook.cells if cell.source == "1 / 0")
    assert failed.metadata.papermill.status == "failed"
    assert failed.outputs[0].ename == "ZeroDivisionError"
    assert notebook.metadata.papermill.exception is True


def test_a_kernel_that_dies_is_an_error_and_its_cell_says_so(tmp_path: Path) -> None:
    with pytest.raises(DeadKernelError):
        run(tmp_path, "x = 1", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "print('never')")
    notebook = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    status = [cell.metadata.papermill.status for cell in notebook.cells]
    assert status == ["completed", "failed", "pending"]
    assert notebook.cells[1].outputs[0].ename == "DeadKernelError"


@pytest.mark.slow
def test_a_cell_that_takes_too_long_is_stopped_with_its_kernel(tmp_path: Path) -> None:
    with pytest.raises(CellTimeoutError):
        run(tmp_path, "x = 1", "import os; print(os.getpid(), flush=True)", "import time; time.sleep(60)",
            execution_timeout=1)  # fmt: skip
    assert gone(int(printed(nbformat.read(tmp_path / "out.ipynb", as_version=4), 1)))


def test_a_kernel_runs_what_is_registered_for_its_end(tmp_path: Path) -> None:
    run(tmp_path, "x = 1", "import atexit, pathlib\natexit.register(lambda: pathlib.Path('ended').write_text('yes'))")
    assert (tmp_path / "ended").read_text() == "yes"


def test_a_kernel_writes_out_open_files_and_drops_its_objects_at_its_end(tmp_path: Path) -> None:
    run(
        tmp_path,
        "x = 1",
        "import pathlib\nopen_file = open('unclosed.txt', 'w'); open_file.write('all of it')",
        "class Kept:\n    def __del__(self, place=pathlib.Path('dropped')): place.write_text('yes')\nkept = Kept()",
        "import builtins\nbuiltins.kept_file = open('elsewhere.txt', 'w'); builtins.kept_file.write('this too')",
    )
    assert (tmp_path / "unclosed.txt").read_text() == "all of it"
    assert (tmp_path / "elsewhere.txt").read_text() == "this too"
    assert (tmp_path / "dropped").read_text() == "yes"


def test_kernels_end_by_themselves_not_by_a_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels: list[ForkedProcess] = []
    launch = ForkServer.launch

    def remembered(*request: Any) -> ForkedProcess:
        kernels.append(launch(*request))
        return kernels[-1]

    monkeypatch.setattr(ForkServer, "launch", remembered)
    for _ in range(8):
        run(tmp_path, "x = 1", "print(x, flush=True)")
    assert [kernel.returncode for kernel in kernels] == [0] * 8


@pytest.mark.parametrize("victim", ["owner", "server"])
def test_no_process_outlives_a_killed_owner_or_server(tmp_path: Path, victim: str) -> None:
    source = write_notebook(
        tmp_path,
        "x = 1",
        "import os, pathlib, subprocess, time\nchild = subprocess.Popen(['sleep', '60'])",
        "pathlib.Path('ids').write_text(f'{os.getppid()} {os.getpid()} {child.pid}')\ntime.sleep(60)",
    )
    program = "import sys, papermill; papermill.execute_notebook(*sys.argv[1:], engine_name='rankplug', cwd='.')"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(source), str(tmp_path / "out.ipynb")],
        cwd=tmp_path,
        env={**os.environ, "RANKPLUG_PRELOAD": "ipykernel.kernelapp"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as owner:
        ids = tmp_path / "ids"
        until = time.monotonic() + 60
        while not (ids.exists() and len(ids.read_text().split()) == 3) and time.monotonic() < until:
            time.sleep(0.1)
        server, kernel, child = map(int, ids.read_text().split())
        os.kill(owner.pid if victim == "owner" else server, signal.SIGKILL)
        try:
            assert gone(server)
            assert gone(kernel)
            assert victim == "server" or gone(child)
        finally:
            owner.kill()
            if not gone(child, 0.1):
                os.kill(child, signal.SIGKILL)


@pytest.mark.slow
def test_a_server_whose_owner_is_killed_while_it_imports_imports_no_more(tmp_path: Path) -> None:
    begun, further = tmp_path / "begun", tmp_path / "further"
    (tmp_path / "first.py").write_text(
        f"import os, pathlib, time\npathlib.Path({str(begun)!r}).write_text(f'{{os.getpid()}} ')\ntime.sleep(2)\n"
    )
    (tmp_path / "second.py").write_text(f"import pathlib\npathlib.Path({str(further)!r}).touch()\n")
    program = "import sys, papermill; papermill.execute_notebook(*sys.argv[1:], engine_name='rankplug', cwd='.')"
    variables = {"RANKPLUG_PRELOAD": "first,second", "PYTHONPATH": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", program, str(write_notebook(tmp_path, "x = 1")), str(tmp_path / "out.ipynb")],
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as owner:
        until = time.monotonic() + 60
        while not (begun.exists() and begun.read_text().endswith(" ")) and time.monotonic() < until:
            time.sleep(0.05)
        owner.kill()
        assert gone(int(begun.read_text())) and not further.exists()


def test_only_this_interpreters_own_kernel_is_forked() -> None:
    plain = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "kernel.json"]
    assert kernel_arguments(plain) == ["-f", "kernel.json"]
    assert kernel_arguments(["/elsewhere/python", *plain[1:]]) is None
    assert kernel_arguments([sys.executable, "-O", *plain[1:]]) is None
    assert kernel_arguments([sys.executable, "-m", "xeus", "-f", "kernel.json"]) is None
