"""How long the machinery of notebooks takes: papermill's command line against the engine ``rankplug``.

Run ``python benchmarks/notebooks.py [--notebooks 8] [--rounds 2]``. Both execute the same trivial notebooks, which
import torch, LightGBM, XGBoost and seaborn, one after another, in turn so that a busy machine hurts both.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

IMPORTS = "import torch, lightgbm, xgboost, seaborn"
ALL_IN_ONE = (
    "import sys, papermill\n"
    "for number in range(int(sys.argv[2])):\n"
    "    papermill.execute_notebook(sys.argv[1], f'{sys.argv[1]}-{number}.ipynb', parameters={'number': number},\n"
    "                               engine_name='rankplug', progress_bar=False)\n"
)


def write_trivial_notebook(path: Path) -> None:
    """Writes the notebook that both ways execute."""
    notebook = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    )
    parameters = nbformat.v4.new_code_cell("number = 0", metadata={"tags": ["parameters"]})
    notebook.cells = [parameters, nbformat.v4.new_code_cell(IMPORTS), nbformat.v4.new_code_cell("number")]
    nbformat.write(notebook, path)


def command_line(source: Path, notebooks: int) -> None:
    """Runs ``papermill`` once a notebook."""
    for number in range(notebooks):
        output = source.with_name(f"plain-{number}.ipynb")
        words = ["papermill", "--no-progress-bar", "--log-level", "ERROR", "-p", "number", str(number)]
        subprocess.run([sys.executable, "-m", *words, str(source), str(output)], check=True, stderr=subprocess.DEVNULL)


def forked(source: Path, notebooks: int) -> None:
    """Runs all notebooks from one new process by the engine, the start of everything included."""
    subprocess.run([sys.executable, "-c", ALL_IN_ONE, str(source), str(notebooks)], check=True)


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--notebooks", type=int, default=8)
    options.add_argument("--rounds", type=int, default=2)
    chosen = options.parse_args()
    seconds: dict[str, list[float]] = {"papermill": [], "rankplug": []}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "trivial.ipynb"
        write_trivial_notebook(source)
        for _ in range(chosen.rounds):
            for name, run in (("papermill", command_line), ("rankplug", forked)):
                begin = time.perf_counter()
                run(source, chosen.notebooks)
                seconds[name].append(time.perf_counter() - begin)
                print(f"{name:10} {chosen.notebooks} notebooks in {seconds[name][-1]:6.1f} s", flush=True)
    share = statistics.median(seconds["rankplug"]) / statistics.median(seconds["papermill"])
    print(f"share of the command line's time: {share:.2f} (wanted: at most 0.25)")


if __name__ == "__main__":
    main()
