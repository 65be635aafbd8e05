"""A paper's notebook shows its first figure, the idea's, soon after it is opened for the first time."""

from __future__ import annotations

import os

import nbclient
import nbformat
import pytest
from rankplug_documentation.reproduction import ORDER

from rankplug.studies import study

LONGEST = 10.0
"""Seconds of one core from the start of the kernel to the picture."""
SPENT = "import os; print('seconds', sum(os.times()[:4]))"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ORDER)
def test_the_first_figure_takes_at_most_ten_seconds_of_a_core_from_empty_caches(name, tmp_path):
    notebook = nbformat.read(study(name).notebook_path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    first = next(number for number, cell in enumerate(code) if cell.source.startswith(("live(", "show(")))
    notebook.cells = [*code[: first + 1], nbformat.v4.new_code_cell(SPENT)]
    empty = {folder: str(tmp_path / folder) for folder in ("RANKPLUG_CACHE", "RANKPLUG_RESULTS", "MPLCONFIGDIR")}
    nbclient.NotebookClient(notebook, timeout=500, kernel_name="python3").execute(
        env={**os.environ, **empty, "RANKPLUG_THREADS": "1", "OMP_NUM_THREADS": "1"}
    )
    *_, shown, spent = notebook.cells
    assert any("image/png" in output.get("data", {}) for output in shown.outputs)
    assert float(spent.outputs[0].text.split()[1]) < LONGEST
