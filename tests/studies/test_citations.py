"""A study says whom to cite, in one place from which BibTeX is made, and its notebook is a file of a package."""

from __future__ import annotations

import importlib
import re
import sys

import pytest
from typer.testing import CliRunner

from rankplug.cli import app
from rankplug.errors import RankplugError, SpecificationError
from rankplug.studies import Citation, studies
from rankplug.system import packaged_file


def test_cite_prints_an_entry_for_each_paper():
    printed = CliRunner().invoke(app, ["cite", "all"]).output
    assert re.findall(r"^@\w+\{(\w+),$", printed, re.MULTILINE) == [
        paper.name for paper in studies() if isinstance(paper.citation, Citation)
    ]
    for paper in studies():
        entry = CliRunner().invoke(app, ["cite", paper.name]).output
        if isinstance(paper.citation, Citation):
            assert f"  author = {{{' and '.join(paper.citation.authors)}}},\n" in entry and paper.citation.doi in entry
        else:
            assert entry.startswith("@software{rankplug,")


@pytest.mark.parametrize(
    "wrong", [{"authors": "A. Person"}, {"authors": ()}, {"title": ""}, {"year": 20}, {"doi": "https://doi.org/10.1/x"}]
)
def test_an_incomplete_citation_is_refused(wrong):
    paper = {"authors": ("A. Person",), "title": "On it", "venue": "SIGIR", "year": 2020}
    with pytest.raises(SpecificationError):
        Citation(**{**paper, **wrong})


def test_a_notebook_is_found_in_a_package_or_beside_it(tmp_path, monkeypatch):
    for place in ("strange_paper/notebooks", "notebooks"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "strange_paper" / "__init__.py").touch()
    (tmp_path / "strange_paper" / "notebooks" / "inside.ipynb").touch()
    (tmp_path / "notebooks" / "beside.ipynb").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    assert packaged_file("strange_paper:notebooks/inside.ipynb").parent.parent.name == "strange_paper"
    assert packaged_file("strange_paper:notebooks/beside.ipynb") == tmp_path / "notebooks" / "beside.ipynb"
    assert "strange_paper" not in sys.modules
    with pytest.raises(RankplugError, match=r"strange_paper has no file notebooks/none.ipynb"):
        packaged_file("strange_paper:notebooks/none.ipynb")
