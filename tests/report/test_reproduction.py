"""Reproducing papers: what runs, whose notebooks are executed, and what is said where something is missing."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from typer.testing import CliRunner

from rankplug.cli import app
from rankplug.errors import NotRunError, RankplugError
from rankplug.report import reproduction
from rankplug.store import Store
from rankplug.studies import Claim, Evaluation, Exhibit, Margin, Runs, Study, evaluate, greater
from rankplug.sweeps import failed_result


def lead(results):
    losses = results.models("few")
    return greater({"": results.difference("few", "ndcg@5", losses[0], losses[-1])})


def made(name: str, *losses: str) -> Study:
    shared = {"dataset": "synthetic[queries=20,documents=8]", "backend": "lightgbm", "scorer": "trees[rounds=2]"}
    runs = Runs("few", {loss: {"loss": loss} for loss in losses}, shared, trials=2)
    exhibits = (Exhibit("Table 1", "trials", lambda results: (pd.DataFrame({"n": [len(results.records)]}), None)),)
    claims = (Claim("more", "More.", lead, "Table 1", Margin(0.01, "a point")),)
    return Study(name, name, "x", f"{name}:{name}.ipynb", lambda profile, data: [runs], exhibits, claims, pd.DataFrame)


@pytest.fixture
def shown(monkeypatch, tmp_path):
    """Run ``one``, not ``other``; yields which studies a report shows, evaluated in this process."""
    studies = {"one": made("one", "xe_ndcg"), "other": made("other", "xe_ndcg", "listnet")}
    store = Store(tmp_path / "store")
    studies["one"].run("smoke", store=store, progress=False)
    monkeypatch.setattr(reproduction, "studies", lambda: list(studies.values()))
    monkeypatch.setattr(reproduction, "study", studies.__getitem__)

    def evaluated(paper, profile, asked, store, report):
        decisions = report / paper.name / reproduction.DECISIONS
        results = paper.results(profile, store=store, decisions=decisions if decisions.exists() else None, **asked)
        evaluate(paper, results).write(report / paper.name)

    monkeypatch.setattr(reproduction, "execute_notebook", evaluated)

    def report(*names: str, **options) -> list[str]:
        folder, given = tmp_path / "report", {"store": store, "run_missing": False, "progress": False, **options}
        reproduction.reproduce(names, profile="smoke", report=folder, **given)
        return [name for name in studies if (folder / f"{name}.html").exists()]

    return report


def test_a_named_study_that_lacks_runs_is_an_error(shown):
    with pytest.raises(RankplugError, match=r"lacks trials at the profile smoke \(2 of other\); run "):
        shown("one", "other")


def test_missing_trials_are_trained_and_every_paper_is_shown(shown, tmp_path):
    assert shown("one", "other", run_missing=True, jobs=2) == ["one", "other"]
    assert len(list(Store(tmp_path / "store").files())) == 4
    assert Evaluation.read(tmp_path / "report" / "other").exhibit("Table 1").table["n"].tolist() == [4]


def test_a_study_is_drawn_while_the_next_one_trains(shown, tmp_path, monkeypatch, capsys):
    """The study with fewer trials comes first, and the next is not trained before the pages of the first are there."""
    folder, states, train = tmp_path / "report", [], reproduction.train

    def look_and_train(sweeps, store, **options):
        end = time.monotonic() + 60
        while states and not (folder / "report.css").exists() and time.monotonic() < end:
            time.sleep(0.05)
        pages = {name for name in ("index", "one", "other") if (folder / f"{name}.html").exists()}
        front = (folder / "index.html").read_text() if "index" in pages else ""
        states.append((pages, [name for name in ("one", "other") if f'href="{name}.html"' in front]))
        train(sweeps, store, **options)

    monkeypatch.setattr(reproduction, "train", look_and_train)
    assert shown("other", "one", run_missing=True, progress=True) == ["one", "other"]
    assert states == [(set(), []), ({"index", "one"}, ["one"])]
    printed = capsys.readouterr().out
    assert printed.index(f"{folder}/index.html") < printed.index(f"one is ready: {folder}/one.html")
    assert printed.index("one is ready") < printed.index("other is ready")


def test_decisions_are_those_of_the_evaluation(shown, tmp_path):
    from rankplug.studies import Budget

    shown("other", run_missing=True, decide=Budget(10, looks=2))
    folder = tmp_path / "report" / "other"
    (decided,) = json.loads((folder / reproduction.DECISIONS).read_text()).values()
    assert Evaluation.read(folder).claims[0].judgement.describe() == decided
    shown("other")
    assert not (folder / reproduction.DECISIONS).exists()


def test_the_shell_lists_claims_of_the_report(shown, tmp_path):
    shown("one", "other", run_missing=True)
    report = ["--report", str(tmp_path / "report")]
    (claims,) = json.loads(CliRunner().invoke(app, ["claims", "one", "--json", *report]).output)
    assert claims["study"] == "one" and [claim["id"] for claim in claims["claims"]] == ["more"]
    listed = CliRunner().invoke(app, ["claims", *report]).output
    assert "one, profile smoke" in listed and "other, profile smoke" in listed
    with pytest.raises(RankplugError, match=r"did you mean holds\?"):
        CliRunner().invoke(app, ["claims", "--verdict", "hold", *report], catch_exceptions=False)
    with pytest.raises(RankplugError, match="has no evaluation of three; run rankplug reproduce three"):
        CliRunner().invoke(app, ["claims", "three", *report], catch_exceptions=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("file", ["index.html", "one.html", "combinations"])
def test_a_full_disk_is_said_with_the_place(file, shown, tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / file).symlink_to("/dev/full")
    with pytest.raises(RankplugError) as caught:
        shown("one")
    assert str(caught.value).startswith(f"cannot write the report to {tmp_path}/report: ")
    assert str(caught.value).endswith("another folder with --report")


def test_what_is_missing_is_said_before_any_study_runs(shown, tmp_path, monkeypatch):
    """The second study's data are away, and the first, which could run, does not begin."""
    two = made("two", "ranknet")
    away = Runs("few", {"mse": {"loss": "mse"}}, {"dataset": "mslr-web30k", "backend": "lightgbm"})
    three = Study("three", "three", "", "three:three.ipynb", lambda profile, data: [away], (), (), pd.DataFrame)
    monkeypatch.setattr(reproduction, "studies", lambda: [two, three])
    monkeypatch.setenv("RANKPLUG_DATA", "")
    monkeypatch.setenv("RANKPLUG_CACHE", str(tmp_path / "cache"))
    store = Store(tmp_path / "another")
    with pytest.raises(NotRunError) as refused:
        reproduction.reproduce(["all"], profile="smoke", store=store, report=tmp_path / "report", progress=False)
    assert "mslr-web30k" in str(refused.value)
    assert not list(store.files())


def test_a_plan_has_the_requested_trials_and_seed(tmp_path):
    plan = made("two", "ranknet").plan("smoke", trials=3, seed=5, store=tmp_path / "store")
    assert [(trial.number, trial.combination.seed) for trial in plan.waiting] == [(0, 5), (1, 5), (2, 5)]


def test_what_failed_runs_again_when_asked(tmp_path):
    two, store = made("two", "ranknet"), Store(tmp_path / "store")
    for trial in two.plan("smoke", store=store).waiting:
        store.write(failed_result(trial, "it rained"))
    with pytest.raises(RankplugError, match=r"2 trials failed.*it rained; .* --retry-failed"):
        two.run("smoke", store=store, progress=False)
    assert len(two.run("smoke", store=store, progress=False, retry_failed=True).records) == 2


def notebook_at(path: Path, *cells: str) -> Path:
    parameters = "profile = data = store = report = decisions = None"
    tagged = nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cells = [tagged, *map(nbformat.v4.new_code_cell, cells)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)
    return path


def test_a_notebook_leaves_the_working_folder_to_other_threads(tmp_path, monkeypatch):
    """A store is often named by a relative path; and a notebook that writes no artefact is an error."""
    monkeypatch.chdir(tmp_path)
    waits = "from pathlib import Path\nPath('begun').touch()\nwhile not Path('seen').exists(): pass"
    notebook = notebook_at(tmp_path / "one.ipynb", waits)
    monkeypatch.setattr(Study, "notebook_path", notebook)
    begun, seen = (tmp_path / "report" / "one" / name for name in ("begun", "seen"))
    with ThreadPoolExecutor(1) as beside:
        given = (made("one", "xe_ndcg"), "smoke", {}, Store("store"), Path("report"))
        executed = beside.submit(reproduction.execute_notebook, *given)
        while not begun.exists() and not executed.done():
            time.sleep(0.01)
        there = Path.cwd()
        seen.touch()
        with pytest.raises(RankplugError, match=r"wrote no evaluation; end .* with the cell write_artefact"):
            executed.result()
    assert there == tmp_path
    assert 'store = \\"' in (tmp_path / "report" / "one" / "notebook.ipynb").read_text()


@pytest.mark.timeout(300)
def test_the_executed_notebook_of_a_paper_writes_its_artefact(results_of_study, tmp_path):
    """The verdicts in the folder are those that the same results give here."""
    from rankplug.studies import study

    paper, results = study("letor2"), results_of_study("letor2")
    store = results.frames.store
    notebook = reproduction.execute_notebook(paper, "smoke", {}, store, tmp_path)
    read, here = Evaluation.read(tmp_path / "letor2"), evaluate(paper, results)
    assert [claim.describe() for claim in read.claims] == [claim.describe() for claim in here.claims]
    for name in read.exhibits:
        pd.testing.assert_frame_equal(name.table, here.exhibit(name.name).table, check_exact=True)
    outputs = [output for cell in nbformat.read(notebook, 4).cells for output in cell.get("outputs", ())]
    shown = [output.metadata.get("rankplug", {}).get("exhibit") for output in outputs if "metadata" in output]
    assert {shown.name for shown in read.exhibits} <= set(shown)
