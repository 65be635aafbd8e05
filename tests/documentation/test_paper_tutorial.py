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


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the names that the notebook's cells define, run in their order with results in a folder of their own."""
    notebook = nbformat.read(TUTORIAL, as_version=4)
    names = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(cell.source.replace("%matplotlib inline", ""), names)
            if "parameters" in cell.metadata.get("tags", ()):
                names["store"] = str(tmp_path_factory.mktemp("tutorial") / "results")
    return names


def test_the_study_that_it_builds_is_the_toy(built, toy):
    study = built["study"]
    for profile in PROFILES:
        for data in (None, "ohsumed"):
            assert list(study.runs(profile, data)) == list(toy.runs(profile, data))
    for part in ("name", "title", "citation", "notebook", "findings", "colours"):
        assert getattr(study, part) == getattr(toy, part)
    assert [(exhibit.name, exhibit.title) for exhibit in study.exhibits] == [
        (exhibit.name, exhibit.title) for exhibit in toy.exhibits
    ]
    about = ("id", "text", "section", "role", "source", "exhibit", "margin")
    assert [[getattr(claim, name) for name in about] for claim in study.claims] == [
        [getattr(claim, name) for name in about] for claim in toy.claims
    ]
    pd.testing.assert_frame_equal(study.published()[list(toy.published().columns)], toy.published(), check_dtype=False)


def test_its_table_figure_and_verdicts_are_those_of_the_toy_on_the_same_results(built, toy):
    results = toy.results("smoke", store=Store(built["store"]))
    theirs, ours = evaluate(toy, results), built["evaluation"]
    for name in ("Table 1", "Figure 1"):
        pd.testing.assert_frame_equal(ours.exhibit(name).table, theirs.exhibit(name).table)
    assert [claim.judgement.sentence for claim in ours.claims] == [claim.judgement.sentence for claim in theirs.claims]
