"""``rankplug bench`` lists, measures, keeps and documents."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from rankplug_benchmarks.harness import reports
from rankplug_benchmarks.subjects import SUBJECTS
from typer.testing import CliRunner

from rankplug.cli import app
from rankplug.errors import RankplugError
from rankplug.system import use_threads


def run(*words: str) -> str:
    """Return the output of the command."""
    with use_threads(1):
        answer = CliRunner().invoke(app, ["bench", *words])
    if answer.exception:
        raise answer.exception
    return answer.stdout


def test_listing_names_every_subject_and_loads_no_engine():
    told = [line.split()[0] for line in run("--list").splitlines()[1:]]
    assert (
        told
        == [entry["subject"] for entry in json.loads(run("--list", "--json"))]
        == [subject.name for subject in SUBJECTS]
    )
    program = (
        "import sys; from rankplug.cli import app; from typer.testing import CliRunner;"
        "assert CliRunner().invoke(app, ['bench', '--list']).exit_code == 0;"
        "print([name for name in ('torch', 'lightgbm', 'xgboost', 'numba') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"


def test_every_subject_names_a_function_that_exists():
    from importlib.util import find_spec

    for subject in SUBJECTS:
        module, _, function = subject.implementation.partition(":")
        assert f"\ndef {function}(effort: Effort" in Path(find_spec(module).origin).read_text()


def test_a_quick_run_is_kept_where_it_is_told_to_and_marked_as_quick(tmp_path):
    said = run("synthetic", "--quick", "--rounds", "1", "--out", str(tmp_path))
    assert "MB/s" in said and "kept in" in said
    kept = reports.read(tmp_path / "synthetic.json")
    (planned,) = json.loads(run("synthetic", "--dry-run", "--json", "--out", str(tmp_path)))
    assert planned["subject"] == "synthetic" and planned["seconds"] == kept.seconds
    assert kept.quick and len(kept.measurements) == 8
    with pytest.raises(RankplugError, match="quick"):
        run("--document", str(tmp_path), "--out", str(tmp_path))


def test_a_quick_run_is_not_kept_among_the_facts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "kept in" not in run("synthetic", "--quick", "--rounds", "1")
    assert not list(tmp_path.iterdir())


def test_documents_are_filled_from_kept_reports(tmp_path):
    run("synthetic", "--quick", "--rounds", "1", "--out", str(tmp_path))
    path = tmp_path / "synthetic.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "quick": False}))
    page = tmp_path / "page.md"
    page.write_text("<!-- bench:targets -->\n<!-- /bench:targets -->\n")
    assert run("--document", str(tmp_path), "--out", str(tmp_path)).strip() == f"filled {page}"
    assert page.read_text().count("| >= 200 |") == 8


def test_an_unknown_subject_is_an_error_that_names_a_likely_one():
    with pytest.raises(RankplugError, match="no benchmark qualty: did you mean quality"):
        run("qualty")


def test_a_subject_whose_code_is_missing_says_which():
    from rankplug_benchmarks.harness.subjects import Effort, Subject

    from rankplug.errors import BrokenPluginError

    with pytest.raises(BrokenPluginError, match="benchmark ghost cannot be used"):
        reports.run(Subject("ghost", "nothing", "rankplug_ghost:measure"), Effort())
