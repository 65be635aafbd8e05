"""A report of stored results shows studies whose runs are all there, and says what others lack."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from rankplug.errors import MissingPackageError, NotRunError, RankplugError
from rankplug.report import reproduction
from rankplug.store import Store, failed_result
from rankplug.studies import Exhibit, Runs, Study, evaluate, kept_evaluations


def made(name: str, *losses: str) -> Study:
    shared = {"dataset": "synthetic[queries=20,documents=8]", "backend": "lightgbm", "scorer": "trees[rounds=2]"}
    runs = Runs("few", {loss: {"loss": loss} for loss in losses}, shared, trials=2)
    return Study(name, name, "", f"{name}:{name}.ipynb", lambda profile, data: [runs], (), (), pd.DataFrame)


@pytest.fixture
def shown(monkeypatch, tmp_path):
    """Run ``one``, not ``other``; yields which studies a report would show, whose notebooks are not executed."""
    one, other = made("one", "xe_ndcg"), made("other", "xe_ndcg", "listnet")
    store = Store(tmp_path / "store")
    one.run("smoke", store=store, progress=False)
    monkeypatch.setattr(reproduction, "studies", lambda: [one, other])
    monkeypatch.setattr(reproduction, "study", {"one": one, "other": other}.__getitem__)
    monkeypatch.setattr(reproduction, "notebook_of", lambda *given: None)

    def report(*names: str) -> list[str]:
        folder = tmp_path / "report"
        reproduction.reproduce(names, profile="smoke", store=store, report=folder, run_missing=False, progress=False)
        return [name for name in ("one", "other") if (folder / f"{name}.html").exists()]

    return report


def test_of_all_studies_those_with_all_runs_are_shown(shown):
    assert shown("all") == ["one"]


def test_a_study_that_was_named_and_lacks_runs_is_an_error_that_counts_them(shown):
    with pytest.raises(
        RankplugError, match=r"lacks trials at the profile smoke \(2 of other\); run rankplug reproduce"
    ):
        shown("one", "other")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("file", ["index.html", "one.html", "claims.json", "combinations"])
def test_a_full_disk_is_said_with_the_place_and_what_to_do(file, shown, tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / file).symlink_to("/dev/full")
    with pytest.raises(RankplugError) as caught:
        shown("one")
    advice = f"cannot write the report to {tmp_path}/report: "
    assert str(caught.value).startswith(advice) and str(caught.value).endswith("another folder with --report")
    assert "No space left on device" in str(caught.value) or file == "combinations"


def test_what_is_missing_is_said_before_any_study_runs(shown, tmp_path, monkeypatch):
    """The second study's data are away, and the first, which could run, does not begin."""
    two = made("two", "ranknet")
    away = Runs("few", {"mse": {"loss": "mse"}}, {"dataset": "mslr-web30k", "backend": "lightgbm"})
    three = Study("three", "three", "", "three:three.ipynb", lambda profile, data: [away], (), (), pd.DataFrame)
    monkeypatch.setattr(reproduction, "studies", lambda: [two, three])
    monkeypatch.setenv("RANKPLUG_DATA", "")
    monkeypatch.setenv("RANKPLUG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(reproduction, "NEEDED", ("no_such_module", "another_module"))

    def absent(module: str) -> None:
        raise MissingPackageError(f"{module} is not installed; install it with: pip install 'rankplug[notebooks]'")

    monkeypatch.setattr("rankplug.sweeps.readiness.require_modules", absent)
    store = Store(tmp_path / "another")
    with pytest.raises(NotRunError) as refused:
        reproduction.reproduce(["all"], profile="smoke", store=store, report=tmp_path / "report", progress=False)
    told = str(refused.value)
    assert told.startswith("nothing has run, as something is missing: no_such_module is not installed")
    assert "another_module" not in told, "the same command installs it"
    assert "mslr-web30k" in told and "rankplug data" in told
    assert not list(store.files())


def test_a_plan_has_the_trials_and_the_seed_that_are_asked_for(shown, tmp_path):
    two = made("two", "ranknet")
    plan = two.plan("smoke", trials=3, seed=5, store=tmp_path / "store")
    assert [(trial.number, trial.combination.seed) for trial in plan.waiting] == [(0, 5), (1, 5), (2, 5)]


def test_what_failed_runs_again_when_asked(tmp_path):
    two, store = made("two", "ranknet"), Store(tmp_path / "store")
    for trial in two.plan("smoke", store=store).waiting:
        store.write(failed_result(trial, "it rained"))
    with pytest.raises(RankplugError, match=r"2 trials of the study two failed.*it rained; .* --retry-failed"):
        two.run("smoke", store=store, progress=False)
    assert len(two.run("smoke", store=store, progress=False, retry_failed=True).records) == 2


def test_without_the_forking_engine_papermills_own_executes_notebooks(monkeypatch):
    from papermill.engines import papermill_engines

    monkeypatch.setattr(papermill_engines, "_engines", {})
    assert reproduction.engine_name() is None


@pytest.mark.parametrize("engines", [pytest.param("all", marks=pytest.mark.slow), "papermill's own"])
def test_a_notebook_that_runs_leaves_the_working_folder_to_the_other_threads(engines, tmp_path, monkeypatch):
    """A store is often named by a relative path, in which workers look for results while a notebook runs."""
    from papermill.engines import papermill_engines

    if engines != "all":
        monkeypatch.setattr(papermill_engines, "_engines", {None: papermill_engines.get_engine(None)})
    monkeypatch.chdir(tmp_path)
    parameters = nbformat.v4.new_code_cell("profile = store = ''", metadata={"tags": ["parameters"]})
    waits = "from pathlib import Path\nPath('begun').touch()\nwhile not Path('seen').exists(): pass"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = nbformat.v4.new_notebook(cells=[parameters, nbformat.v4.new_code_cell(waits)], metadata=kernel)
    nbformat.write(notebook, tmp_path / "one.ipynb")
    monkeypatch.setattr(Study, "notebook_path", tmp_path / "one.ipynb")
    begun, seen = (tmp_path / "report" / "notebooks" / name for name in ("begun", "seen"))
    with ThreadPoolExecutor(1) as beside:
        given = (made("one", "xe_ndcg"), "smoke", {}, Store("store"), Path("report"))
        executed = beside.submit(reproduction.execute_notebook, *given)
        while not begun.exists() and not executed.done():
            time.sleep(0.01)
        there = Path.cwd()
        seen.touch()
        assert executed.result() == Path("report/notebooks/one.ipynb")
    assert there == tmp_path


@pytest.mark.parametrize(("jobs", "beside"), [(1, False), (2, True)])
def test_where_nothing_trains_the_notebook_runs_while_exhibits_are_drawn_unless_jobs_are_one(
    jobs, beside, shown, tmp_path, monkeypatch
):
    begun, seen = threading.Event(), []

    def drawn(name: str) -> Exhibit:
        def draw(results):
            seen.append((name, begun.wait(5) if jobs > 1 else begun.is_set()))
            return pd.DataFrame({"value": [1.0]}), None

        return Exhibit(name, name, draw)

    one = dataclasses.replace(made("one", "xe_ndcg"), exhibits=(drawn("Table 1"), drawn("Table 2")))
    monkeypatch.setattr(reproduction, "study", lambda name: one)
    monkeypatch.setattr(reproduction, "notebook_of", lambda *given: begun.set())
    store, report = Store(tmp_path / "store"), tmp_path / "drawn"
    reproduction.reproduce(["one"], profile="smoke", store=store, report=report, progress=False, jobs=jobs)
    assert seen == [("Table 2", beside), ("Table 1", beside)]
    assert "Table 1" in (report / "one.html").read_text()


def test_a_notebook_is_executed_once_for_what_it_is_made_of(tmp_path, monkeypatch):
    """The report's notebook of a finished study is the kept one until results, profile, parameters or text change."""
    executed = []

    def execute(paper, profile, asked, store, report):
        executed.append((profile, dict(asked)))
        target = report / "notebooks" / f"{paper.name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"executed {len(executed)}")
        return target

    source = tmp_path / "one.ipynb"
    source.write_text("text")
    one, store = made("one", "xe_ndcg"), Store(tmp_path / "store")
    monkeypatch.setattr(Study, "notebook_path", source)
    monkeypatch.setattr(reproduction, "execute_notebook", execute)
    monkeypatch.setattr(kept_evaluations, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(kept_evaluations, "_is_installed", lambda study: True)

    def shown(profile="smoke", **asked):
        evaluation = evaluate(one, one.run(profile, store=store, progress=False, **asked))
        return reproduction.notebook_of(evaluation, profile, asked, store, tmp_path / "report").read_text()

    assert shown() == shown() == "executed 1"
    assert shown(seed=1) == "executed 2" and shown(profile="quick") == "executed 3"
    source.write_text("changed text")
    assert shown() == shown() == "executed 4"
    trial = one.plan("smoke", store=store).trials[0]
    os.utime(store.path(trial), (0, 0))
    assert shown() == shown() == "executed 5"
    for path in (tmp_path / "cache").rglob("notebook-*"):
        path.write_bytes(path.read_bytes()[:-1])
    assert shown() == shown() == "executed 6"
