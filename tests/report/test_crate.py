"""A crate holds every number with what made it; whoever changes a file is found out, and other tools can read it."""

from __future__ import annotations

import errno
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from rankplug.cli import app
from rankplug.errors import RankplugError
from rankplug.registry import registry
from rankplug.report import reproduce
from rankplug.report.research_object.crate import write_crate
from rankplug.report.research_object.crate_metadata import _home, _licence
from rankplug.report.site import write_summary
from rankplug.report.study_report import study_report
from rankplug.store import Store, merge, verify
from rankplug.studies import Citation, Claim, Exhibit, Margin, Runs, Study, evaluate, greater
from rankplug.sweeps import read_file

BIN = Path(sys.executable).parent
matplotlib.use("Agg")


def runs(profile, data):
    shared = {
        "dataset": "synthetic[queries=20,documents=8]",
        "backend": "lightgbm",
        "scorer": "trees[rounds=3,leaves=3,min_data=2]",
    }
    return [Runs("few", {"A": {"loss": "mse"}, "B": {"loss": "lambdarank"}}, shared, trials=2)]


STUDY = Study(
    name="paper",
    title="A paper",
    citation=Citation(authors=("A. Person",), title="A paper", venue="SIGIR", year=2026, doi="10.1145/1.2"),
    notebook="rankplug:notebooks/xendcg.ipynb",
    runs=runs,
    exhibits=(Exhibit("Table 1", "numbers", lambda results: (results.trials("few", "ndcg@5").astype(float), None)),),
    claims=(
        Claim(
            "claim",
            "A is better",
            lambda results: greater({"": results.difference("few", "ndcg@5", "A", "B")}),
            "Table 1",
            Margin(0.01, "a point"),
        ),
    ),
    published=pd.DataFrame,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make a crate of a small study; return it with the store and the results it was made from."""
    folder = tmp_path_factory.mktemp("crate")
    store = Store(folder / "store")
    results = STUDY.run("smoke", store=store, progress=False)
    report = folder / "report"
    report.mkdir()
    shown = {"paper": study_report(evaluate(STUDY, results), None, report, store)}
    write_summary(shown, report)
    write_crate(shown, report, store, folder / "crate")
    with pytest.raises(RankplugError, match="exists and is no empty folder; name another with --crate"):
        write_crate(shown, report, store, folder / "crate")
    return folder / "crate", store, results


def test_a_crate_whose_writing_ends_early_leaves_a_folder_that_takes_it_later(made, tmp_path, monkeypatch):
    _, store, results = made
    report = tmp_path / "report"
    report.mkdir()
    shown = {"paper": study_report(evaluate(STUDY, results), None, report, store)}
    write_summary(shown, report)
    (tmp_path / "empty").mkdir()
    write, written = Path.write_bytes, []

    def fill_up(path, content):
        written.append(path)
        if len(written) > 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, content)

    for name in ("absent", "empty"):
        written.clear()
        before = sorted(tmp_path.iterdir())
        with monkeypatch.context() as patch:
            patch.setattr(Path, "write_bytes", fill_up)
            with pytest.raises(RankplugError, match="No space left on device; free space, or name another folder"):
                write_crate(shown, report, store, tmp_path / name)
        assert sorted(tmp_path.iterdir()) == before and len(written) == 4
        write_crate(shown, report, store, tmp_path / name)
        assert verify(tmp_path / name)[1] == []


def test_a_package_without_a_home_page_has_none_whatever_library_reads_metadata():
    """The newer library of metadata, which Dask loads and which then answers for all, raises for a missing field."""
    pytest.importorskip("importlib_metadata")
    assert set(_home("rankplug")) <= {"url"} and _home("torch") and _home("Python") == {}


def test_where_no_crate_can_be_written_is_told_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RankplugError, match=r"cannot write the crate to .*file/crate: .*; free space"):
        reproduce(["letor2"], profile="smoke", store=Store(tmp_path / "store"), report=tmp_path / "report",
                  crate=tmp_path / "file" / "crate")  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.fixture
def crate(made, tmp_path):
    """Return a copy that a test may spoil."""
    return Path(shutil.copytree(made[0], tmp_path / "crate"))


def test_every_trial_is_in_it_with_parameters_versions_data_and_licence(made):
    folder, store, results = made
    graph = {one["@id"]: one for one in json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"]}
    for record in results.records:
        action = graph[f"#{record['identity']}"]
        name = f"results/{record['identity']}/{record['identity']}-f1-t{record['trial']}.parquet"
        assert {"@id": name} in action["result"] and name in graph
        assert (folder / name).read_bytes() == (store.folder / name.removeprefix("results/")).read_bytes()
        told = {graph[one["@id"]]["name"]: graph[one["@id"]] for one in action["object"]}
        (loss,) = record["plugins"]["loss"]
        assert told["loss"]["value"] == f"{loss['name']} {json.dumps(loss['parameters'])}"
        digests = {graph[one["@id"]].get("identifier") for one in action["object"]}
        assert {record["record"]["test_fingerprint"], *record["record"]["data"].values()} <= digests
        parts = [graph[one["@id"]] for one in action["object"] if graph[one["@id"]]["@type"] == "Dataset"]
        assert {graph[part["license"]["@id"]]["description"] for part in parts} == {
            "MIT, as the program that makes it."
        }
        for package, version in record["record"]["versions"].items():
            assert graph[f"#{package}-{version}"]["softwareVersion"] == version
    assert graph["./"]["license"] == {"@id": "https://spdx.org/licenses/MIT"}
    named = {
        reference["@id"] for entity in graph.values() for value in entity.values() for reference in references(value)
    }
    assert {one for one in named if one not in graph} <= {"https://w3id.org/ro/crate/1.1"}


def test_every_public_data_set_names_its_licence_and_one_that_is_not_installed_has_none():
    licences = {plugin.specification.name: plugin.specification.licence for plugin in registry().plugins("dataset")}
    assert "research use" in licences["ohsumed"] and "Webscope" in licences["yahoo-c14"]
    assert [name for name, licence in licences.items() if not licence] == ["letor-file", "parquet"]
    assert _licence("ohsumed")["description"] == licences["ohsumed"]
    assert _licence("somebody-elses[size=3]")["description"].startswith("Its plugin names no licence")


def references(value):
    """Yield what an entity's property refers to."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            yield one


def test_it_can_be_run_again_merged_and_reviewed(made, tmp_path):
    folder, _, results = made
    plan = read_file(folder / "sweep.yaml").plan(Store(folder / "results"))
    assert (len(plan.done), len(plan.waiting)) == (len(results.records), 0)
    assert merge(Store(tmp_path / "mine"), [folder]).new == len(results.records)
    draft = yaml.safe_load((folder / "codecheck.yml").read_text())
    assert [one["file"] for one in draft["manifest"]] == ["exhibits/paper/table-1.csv", "claims.json"]
    assert draft["paper"]["reference"] == "https://doi.org/10.1145/1.2" and draft["codechecker"] == []
    appendix = (folder / "artifact-appendix.md").read_text()
    assert "rankplug reproduce paper --profile smoke" in appendix
    assert re.search(r"\| paper \| A is better \| (holds|fails|no difference|inconclusive) \|", appendix)


def test_a_crate_that_nobody_touched_is_what_it_was(crate):
    checked = CliRunner().invoke(app, ["verify", str(crate)])
    assert checked.exit_code == 0 and checked.output.endswith("files are what they were\n")


@pytest.mark.parametrize(
    "name", ["claims.json", "exhibits/paper/table-1.csv", "records.json", "ro-crate-metadata.json"]
)
def test_a_changed_file_is_named(crate, name):
    with (crate / name).open("ab") as file:
        file.write(b" ")
    checked = CliRunner().invoke(app, ["verify", str(crate)])
    assert checked.exit_code == 1 and checked.output.startswith(f"{name} is not what it was")


def test_a_changed_result_a_missing_file_and_an_added_one_are_named(crate):
    result, other = sorted((crate / "results").glob("*/*.parquet"))[:2]
    shutil.copy(other, result)
    (crate / "summary.md").unlink()
    (crate / "extra.txt").touch()
    output = CliRunner().invoke(app, ["verify", str(crate)]).output
    assert f"{result.relative_to(crate)} is not what it was" in output
    assert "summary.md is missing" in output and "extra.txt is not in SHA256SUMS: it was added" in output
    assert f"is the result {other.relative_to(crate / 'results')} by its description" in output


def test_a_folder_without_digests_and_digests_of_other_folders_are_refused(crate, tmp_path):
    with pytest.raises(RankplugError, match="has no SHA256SUMS; name a crate"):
        CliRunner().invoke(app, ["verify", str(tmp_path)], catch_exceptions=False)
    (tmp_path / "secret.txt").touch()
    with (crate / "SHA256SUMS").open("a") as file:
        file.write(f"{'0' * 64}  ../secret.txt\n")
    assert "../secret.txt lies outside of" in CliRunner().invoke(app, ["verify", str(crate)]).output


UV = BIN / "uv"
WARM = """
import io, pathlib, requests, requests_cache, rocrate, urllib3

class Packaged(requests.adapters.HTTPAdapter):
    def send(self, request, **options):
        content = (pathlib.Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld").read_bytes()
        head = {"Content-Type": "application/ld+json"}
        answer = urllib3.HTTPResponse(io.BytesIO(content), head, 200, preload_content=False, request_url=request.url)
        return self.build_response(request, answer)

session = requests_cache.CachedSession("http-cache", expire_after=-1)
session.mount("https://w3id.org", Packaged())
session.get("https://w3id.org/ro/crate/1.1/context")
"""
"""Puts the context of RO-Crate 1.1, which the package rocrate has until 0.15, into the validator's cache."""


@pytest.fixture(scope="module")
def validator(tmp_path_factory):
    """Install roc-validator into an environment of its own; return how it is called, without any network."""
    if not UV.exists():
        pytest.skip("uv is not installed beside this Python")
    folder = tmp_path_factory.mktemp("validator")
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    tools = ["roc-validator==0.13.0", "rocrate==0.15.0"]
    subprocess.run([UV, "pip", "install", "--quiet", "--python", python, *tools], check=True)
    subprocess.run([python, "-c", WARM], cwd=folder, check=True)
    words = ["validate", "--offline", "--cache-path", "http-cache", "-p", "workflow-run-crate", "--no-paging", "-v"]

    def validate(crate):
        done = subprocess.run(
            [python.with_name("rocrate-validator"), *words, crate], cwd=folder, capture_output=True, text=True
        )
        return done.returncode, done.stdout

    return validate


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_validator_of_ro_crate_accepts_a_crate_and_refuses_one_without_a_workflow(crate, validator):
    status, told = validator(crate)
    assert status == 0, told
    path = crate / "ro-crate-metadata.json"
    path.write_text(path.read_text().replace('"ComputationalWorkflow"', '"CreativeWork"'))
    status, told = validator(crate)
    assert status == 1 and "The Main Workflow must have types" in told


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_crate_of_all_papers_is_valid(tmp_path, validator):
    words = ["reproduce", "all", "--profile", "smoke", "--store", tmp_path / "store", "--report", tmp_path / "report"]
    done = subprocess.run(
        [BIN / "rankplug", *words, "--crate", tmp_path / "crate"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    status, told = validator(tmp_path / "crate")
    assert status == 0, told
    checked = CliRunner().invoke(app, ["verify", str(tmp_path / "crate")])
    assert checked.exit_code == 0
