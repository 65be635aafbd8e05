"""A study says whom to cite, in one place from which BibTeX is made, and its notebook is a file of a package."""

from __future__ import annotations

import dataclasses
import importlib
import re
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from rankplug.cli import app
from rankplug.errors import RankplugError, SpecificationError
from rankplug.studies import Citation, bibliography, studies, study
from rankplug.system import __version__, packaged_file

ROOT = Path(__file__).parents[2]
PAPER = {"authors": ("A. Person",), "title": "On it", "venue": "SIGIR", "year": 2020}


def test_the_citation_file_names_the_papers_that_the_studies_name():
    ours = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    written = {
        reference["title"]: (
            tuple(f"{author['given-names']} {author['family-names']}" for author in reference["authors"]),
            reference["year"],
            reference.get("doi", ""),
            reference["collection-title"],
        )
        for reference in ours["references"]
    }
    cited = [paper.citation for paper in studies() if isinstance(paper.citation, Citation)]
    assert written == {
        citation.title: (citation.authors, citation.year, citation.doi, citation.published_in) for citation in cited
    }
    assert (ours["version"], ours["license"]) == (__version__, "MIT")
    (author,) = ours["authors"]
    assert f"Copyright (c) 2026 {author['name']}" in (ROOT / "LICENSE").read_text()
    assert ours["title"] in bibliography([]) and author["name"] in bibliography([])


def test_the_command_prints_an_entry_for_each_paper_and_ours_where_there_is_none():
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


def test_signs_that_latex_reads_otherwise_are_escaped():
    entry = Citation(**{**PAPER, "title": r"100 % of $x_i$ & {more} \ ~"}).bibtex("key")
    assert r"title = {{100 \% of \$x\_i\$ \& \{more\} \textbackslash{} \textasciitilde{}}}," in entry


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"authors": "A. Person"}, "needs its authors as a tuple of names"),
        ({"authors": ()}, "needs its authors"),
        ({"title": ""}, "needs a title and a venue"),
        ({"year": 20}, "has the year 20"),
        ({"doi": "https://doi.org/10.1/x"}, "not 10.number/name"),
    ],
)
def test_a_citation_that_nobody_could_follow_is_refused(wrong, sentence):
    with pytest.raises(SpecificationError, match=sentence):
        Citation(**{**PAPER, **wrong})


def test_every_installed_study_has_its_notebook():
    for paper in studies():
        assert paper.notebook_path.is_file() and paper.notebook_path.stem == paper.name


def test_a_notebook_is_found_in_any_package_or_beside_it(tmp_path, monkeypatch):
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
    with pytest.raises(RankplugError, match=r"there is no file notebooks/none.ipynb in the package strange_paper"):
        packaged_file("strange_paper:notebooks/none.ipynb")
    with pytest.raises(RankplugError, match="in a package nowhere_at_all, which is not installed"):
        packaged_file("nowhere_at_all:a.ipynb")


def test_a_study_without_a_package_for_its_notebook_is_refused():
    with pytest.raises(SpecificationError, match=r'name a file of your package, such as "my_package:notebooks'):
        dataclasses.replace(study("xendcg"), notebook="xendcg.ipynb")
