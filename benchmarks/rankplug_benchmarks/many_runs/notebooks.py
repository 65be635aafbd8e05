"""Overhead of executing notebooks: papermill and nbclient against papermill with the engine ``rankplug``.

All execute trivial notebooks, which import torch, LightGBM, XGBoost and seaborn, one after another. Papermill's command
line starts anew for each notebook, so a few of them tell how long many take. Papermill's own engine and bare nbclient
run from one process, as the engine ``rankplug`` does, and start a kernel for each notebook; the start of the process
is included.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat

from rankplug_benchmarks.harness.measurements import Measurement, at_most, measured
from rankplug_benchmarks.harness.rounds import by_turns
from rankplug_benchmarks.harness.subjects import Effort

NOTEBOOKS = 8
BY_COMMAND_LINE = 2
IMPORTS = "import torch, lightgbm, xgboost, seaborn"
PAPERMILL = (
    "import sys, papermill\n"
    "for number in range(int(sys.argv[2])):\n"
    "    papermill.execute_notebook(sys.argv[1], f'{sys.argv[1]}-{number}.ipynb', parameters={'number': number},\n"
    "                               engine_name=sys.argv[3] or None, progress_bar=False)\n"
)
NBCLIENT = (
    "import sys, nbformat, nbclient\n"
    "for number in range(int(sys.argv[2])):\n"
    "    notebook = nbformat.read(sys.argv[1], 4)\n"
    "    nbclient.NotebookClient(notebook).execute()\n"
    "    nbformat.write(notebook, f'{sys.argv[1]}-{number}.ipynb')\n"
)


def write_trivial_notebook(path: Path) -> None:
    """Write the notebook that both ways execute."""
    notebook = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    )
    parameters = nbformat.v4.new_code_cell("number = 0", metadata={"tags": ["parameters"]})
    notebook.cells = [parameters, nbformat.v4.new_code_cell(IMPORTS), nbformat.v4.new_code_cell("number")]
    nbformat.write(notebook, path)


def command_line(source: Path, number: int) -> None:
    """Run ``papermill`` for one notebook."""
    output = source.with_name(f"plain-{number}.ipynb")
    words = ["papermill", "--no-progress-bar", "--log-level", "ERROR", "-p", "number", str(number)]
    subprocess.run([sys.executable, "-m", *words, str(source), str(output)], check=True, stderr=subprocess.DEVNULL)


def in_one_process(program: str, source: Path, notebooks: int, engine: str = "") -> None:
    """Run all notebooks from one new process, its own start included."""
    subprocess.run([sys.executable, "-c", program, str(source), str(notebooks), engine], check=True)


def measure(effort: Effort) -> Iterator[Measurement]:
    """Measure both by turns."""
    notebooks, by_hand = effort.size(NOTEBOOKS, 1), effort.size(BY_COMMAND_LINE, 1)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "trivial.ipynb"
        write_trivial_notebook(source)
        numbers = itertools.count()
        rounds = by_turns(
            {
                "rankplug": lambda: in_one_process(PAPERMILL, source, notebooks, "rankplug"),
                "papermill in one process": lambda: in_one_process(PAPERMILL, source, notebooks),
                "nbclient in one process": lambda: in_one_process(NBCLIENT, source, notebooks),
                "papermill": lambda: [command_line(source, next(numbers)) for _ in range(by_hand)],
            },
            effort.rounds,
        )
    yield measured(
        f"{notebooks} trivial notebooks: engine rankplug over papermill's command line",
        rounds,
        lambda seconds: seconds["rankplug"] / (seconds["papermill"] * notebooks / by_hand),
        threads=1,
        target=at_most(0.25),
        note=f"the command line timed on {by_hand}",
    )
    for name in ("papermill in one process", "nbclient in one process"):
        yield measured(
            f"{notebooks} trivial notebooks: engine rankplug over {name}",
            rounds,
            lambda seconds, name=name: seconds["rankplug"] / seconds[name],
            threads=1,
            target=at_most(0.5),
        )
