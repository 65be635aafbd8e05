"""The tables of the documentation are those of the reports that are kept beside the benchmarks."""

from __future__ import annotations

from pathlib import Path

import pytest
from rankplug_benchmarks.harness import pages, reports
from rankplug_benchmarks.harness.subjects import subjects

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
DOCUMENTS = [path for path in sorted((ROOT / "docs").glob("*.md")) if pages.PART.search(path.read_text())]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_pages_tables_are_those_of_the_kept_reports(path):
    text = path.read_text()
    known = pages.parts(reports.read_all(RESULTS))
    assert pages.fill(text, known) == text, f"run: rankplug bench --document {path.parent.name}"


def test_kept_reports_are_of_subjects_that_exist_and_none_is_quick():
    kept = reports.read_all(RESULTS)
    assert set(kept) <= {subject.name for subject in subjects()}
    assert not [name for name, report in kept.items() if report.quick]


def test_a_page_shows_every_subject():
    shown = {match["name"].split("/")[0] for path in DOCUMENTS for match in pages.PART.finditer(path.read_text())}
    assert {subject.name for subject in subjects()} <= shown


def test_the_figures_of_the_pages_exist():
    missing = [
        f"{path.name}: {line}"
        for path in DOCUMENTS
        for match in pages.PART.finditer(path.read_text())
        for line in match["text"].splitlines()
        if line.startswith("![") and not (path.parent / line.split("(")[1].rstrip(")")).exists()
    ]
    assert not missing
