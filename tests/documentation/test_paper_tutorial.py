"""The tutorial for authors of papers builds the very study that lies in plugins/examples/toy."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import matplotlib
import nbformat
import pandas as pd
import pytest

from rankplug.store import Store
from rankplug.studies import PROFILES, evaluate
from rankplug.system import notebooks_folder

TUTORIAL = notebooks_folder() / "tutorials" / "paper.ipynb"
TOY = Path(__file__).parents[2] / "plugins" / "examples" / "toy"
matplotlib.use("Agg")


@pytest.fixture
def toy(monkeypatch):
    """Return the study of the example package, which is installed nowhere."""
    monkeypatch.syspath_prepend(str(TOY))
    yield importlib.import_module("rankplug_toy.study").study
    for name in [name for name in sys.modules if name.partition(".")[0] == "rankplug_toy"]:
        del sys.modules[name]


def test_the_tutorial_builds_the_study_of_the_example_package(toy, tmp_path):
    notebook = nbformat.read(TUTORIAL, as_version=4)
    names = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(cell.source.replace("%matplotlib inline", ""), names)
            if "parameters" in cell.metadata.get("tags", ()):
                names["store"] = str(tmp_path / "results")
    study = names["study"]
    for profile in PROFILES:
        for data in (None, "ohsumed"):
            assert list(study.runs(profile, data)) == list(toy.runs(profile, data))
    assert [claim.id for claim in study.claims] == [claim.id for claim in toy.claims]
    pd.testing.assert_frame_equal(study.published()[list(toy.published().columns)], toy.published(), check_dtype=False)
    results = toy.results("smoke", store=Store(names["store"]))
    theirs, ours = evaluate(toy, results), names["evaluation"]
    for name in ("Table 1", "Figure 1"):
        pd.testing.assert_frame_equal(ours.exhibit(name).table, theirs.exhibit(name).table)
    assert [claim.judgement.sentence for claim in ours.claims] == [claim.judgement.sentence for claim in theirs.claims]
