"""The papers' pages show the figures and tables that are kept beside the verdicts, on whatever a store has."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rankplug_documentation import evidence as module
from rankplug_documentation.evidence import exhibits_in, note_of, note_of_looks, write_evidence
from rankplug_documentation.paper_pages import exhibits_shown
from rankplug_documentation.reproduction import ORDER

from rankplug.errors import NotRunError, RankplugError
from rankplug.plotting import new_figure
from rankplug.report import KeptExhibits
from rankplug.store import Store
from rankplug.studies import (
    Abstention,
    Claim,
    Exhibit,
    Margin,
    Observation,
    Results,
    Runs,
    Study,
    StudyEvidence,
    Verdict,
    evaluate,
    evidence_of,
    greater,
)
from rankplug.studies.verdicts import IndependentTrials, Sample

EVIDENCE = Path(__file__).parents[2] / "docs" / "evidence"
KEPT = exhibits_in(EVIDENCE)
LARGEST = 500_000
"""Bytes of all kept exhibits."""


def curve(results):
    figure, axes = new_figure()
    axes.plot([0, 1], [1, 0])
    return pd.DataFrame({"x": [0, 1]}), figure


def numbers(results):
    return pd.DataFrame({"model": ["a"], "trials": [results.runs["few"].trials]}), None


def nothing(results):
    return pd.DataFrame({"model": []}), None


def of_more(results):
    return results["more"], None


def well(group):
    return lambda results: greater({"": results.contrast("ndcg@10", {(group(results), "mse"): 1.0})})


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """Return a study of two groups with a notebook, of which nothing was run."""
    cell = 'show(evaluation, "Figure 1")'
    cells = [{"cell_type": "markdown", "metadata": {}, "source": "## Figure 1\n\nA line that falls."}]
    cells += [{"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": None}]
    notebook = tmp_path / "made.ipynb"
    notebook.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    shared = {"dataset": "synthetic[queries=20,documents=8]", "backend": "lightgbm", "scorer": "trees[rounds=2]"}
    groups = [
        Runs(name, {"mse": {"loss": "mse"}}, {**shared, "seed": n}, trials=3) for n, name in enumerate(("few", "more"))
    ]
    groups[1] = Runs("more", {"mse": {"loss": "mse"}}, {**shared, "transforms": ["query_minmax"]}, trials=2)
    drawn = (
        Exhibit("Figure 1", "A line", curve),
        Exhibit("Table 1", "Numbers", numbers),
        Exhibit("Table 2", "Of runs that were left out", nothing),
        Exhibit("Table 3", "Of a group that was not run", of_more),
    )
    margin = Margin(0.5, "Made.")
    claims = (
        Claim("few", "Few rank well.", well(lambda results: "few"), "Table 1", margin),
        Claim("more", "More rank well.", well(lambda results: "more"), "Table 1", margin),
        Claim("noisy", "Noisy rank well.", well(lambda results: results.groups_run("noisy")[0]), "Table 1", margin),
    )
    seen = (
        Observation("trials-of-few", "Trials of few.", lambda results: str(results.runs["few"].trials)),
        Observation("trials-of-more", "Trials of more.", lambda results: str(results.runs["more"].trials)),
    )
    one = Study(
        "made",
        "Made",
        "",
        "made:made.ipynb",
        lambda profile, data: groups,
        drawn,
        claims,
        pd.DataFrame,
        observations=seen,
    )
    monkeypatch.setattr(Study, "notebook_path", notebook)
    monkeypatch.setattr(module, "study", {"made": one}.__getitem__)
    return one


def test_what_a_store_has_is_kept_and_shown_with_words_that_say_what_it_lacks(paper, tmp_path, capsys):
    store, folder = Store(tmp_path / "store"), tmp_path / "evidence"
    with pytest.raises(NotRunError, match=r"no group of runs of the study made at the profile smoke; run them with"):
        paper.results_there("smoke", store=store)
    with pytest.raises(RankplugError, match="no runs of the profile smoke; name another with --store"):
        write_evidence(["made"], "smoke", store, folder)
    asked = paper.runs_asked("smoke", trials=2)
    paper.train({"few": asked["few"]}, store, progress=False)

    written = write_evidence(["made"], "smoke", store, folder)

    assert [path.relative_to(folder).as_posix() for path in written] == ["made-smoke.json", "exhibits/made.json.gz"]
    evidence, kept = StudyEvidence.read(written[0]), exhibits_in(folder)["made"]
    assert evidence.trials == 2
    assert evidence.note == "Only 2 of the profile's 3 trials of few were run for this, and nothing of more."
    few, more, noisy = (claim.judgement for claim in evidence.claims)
    assert isinstance(few, Verdict)
    assert more == Abstention("not run", "the group more is not part of these runs")
    assert noisy == Abstention("not run", "no group of the kind noisy is part of these runs")
    assert evidence.observations == {"Trials of few.": "2"}
    assert [each.name for each in kept.exhibits] == ["Figure 1", "Table 1"]
    figure, table = kept.exhibits
    assert figure.caption == "A line that falls." and figure.file == "figure-1.svg" and not figure.table
    assert ">2<" in table.table and not table.picture
    page = "\n".join(exhibits_shown(kept, {"smoke": evidence}))
    assert "- [Figure 1: A line](#figure-1)" in page and evidence.note in page
    heading, picture = "### Figure 1: A line { #figure-1 }", "[![Figure 1: A line](made/figure-1.svg)]"
    assert f"{heading}\n\nA line that falls.\n\n{picture}" in page
    assert '<details class="numbers" open><summary>the numbers: 1 row<' in page

    kept_before = written[1].read_bytes()
    assert write_evidence(["made"], "smoke", store, folder, exhibits=False) == written[:1]
    assert written[1].read_bytes() == kept_before


def test_runs_that_are_all_there_need_no_note(paper, tmp_path):
    store = Store(tmp_path / "store")
    results = paper.run("smoke", store=store, progress=False)
    assert note_of(paper, results) == ""
    there = paper.results_there("smoke", store=store)
    assert {name: runs.trials for name, runs in there.runs.items()} == {"few": 3, "more": 2}
    kept = KeptExhibits.of(evaluate(paper, there), store)
    kept.write(tmp_path / "made.json.gz")
    first = (tmp_path / "made.json.gz").read_bytes()
    kept.write(tmp_path / "made.json.gz")
    assert (tmp_path / "made.json.gz").read_bytes() == first
    assert KeptExhibits.read(tmp_path / "made.json.gz") == kept


def test_verdicts_on_trials_that_were_added_say_how_many_stand_at_the_level_of_each_look(paper, monkeypatch, tmp_path):
    lead = np.linspace(-1, 1, 10)

    def ahead(by):
        return lambda results: greater({"": Sample(by + lead, IndependentTrials())})

    claims = [Claim(f"ahead-{by}", "ahead", ahead(by), margin=Margin(0.5, "points")) for by in (0.49, 2.0, 0.0)]
    study = replace(paper, claims=claims)
    results = study.run("smoke", store=tmp_path, progress=False)
    evidence = evidence_of(evaluate(study, results))
    assert [claim.judgement.verdict for claim in evidence.claims] == ["holds", "holds", "no difference"]
    assert note_of_looks(study, results, evidence) == ""
    monkeypatch.setattr(module, "LOOKS", {"smoke": 3})
    assert "at 3 looks at most: of 3 claims about differences that are decided here, 1 stay so" in note_of_looks(
        study, results, evidence
    )


def test_levels_of_one_kind_are_told_together(paper, monkeypatch):
    quality = Runs("quality, Web", {}, {}, trials=4, kind="quality", place="Web")
    noisy = [
        Runs(f"flips, Web, {level}", {}, {}, trials=4, kind="flips", place="Web", level=level) for level in (0.2, 0.4)
    ]
    monkeypatch.setattr(Study, "runs_asked", lambda self, profile: {runs.name: runs for runs in (quality, *noisy)})
    there = {"quality, Web": replace(quality, trials=4), "flips, Web, 0.4": replace(noisy[1], trials=3)}
    results = Results("smoke", {}, pd.DataFrame(), runs=there)
    assert note_of(paper, results) == (
        "Only 0 to 3 of the profile's 4 trials of flips in the place of Web were run for this."
    )


CONTENTS = {
    "empty": b"",
    "not packed": b"{}",
    "no exhibits": gzip.compress(b"{}"),
    "another format": gzip.compress(b'{"format": 2}'),
}


@pytest.mark.parametrize("content", list(CONTENTS.values()), ids=list(CONTENTS))
def test_what_is_no_file_of_exhibits_is_refused_with_its_name(content, tmp_path):
    (tmp_path / "made.json.gz").write_bytes(content)
    with pytest.raises(RankplugError, match=r"made\.json\.gz .*; write it again"):
        KeptExhibits.read(tmp_path / "made.json.gz")


def test_every_paper_has_figures_or_tables_in_the_site():
    assert set(ORDER) <= set(KEPT)
    assert sum(path.stat().st_size for path in (EVIDENCE / "exhibits").iterdir()) < LARGEST
