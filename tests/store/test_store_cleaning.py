"""Cleaning a store deletes what rankplug left behind or read as outdated, and nothing else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rankplug.cli import app
from rankplug.registry import registry
from rankplug.store import Combination, Store, Trial, leftovers, outdated, remove
from rankplug.sweeps import failed_result

Make = Callable[..., Any]
LINES = "".join(f"{document % 2} qid:{document // 5} 1:0.{document}\n" for document in range(30))


def clean(store: Store, *words: str) -> str:
    ran = CliRunner().invoke(app, ["results", "clean", "--store", str(store.folder), *words])
    assert ran.exit_code == 0, ran.output
    return ran.output


def files(store: Store) -> list[Path]:
    return sorted(path for path in store.folder.rglob("*") if path.is_file())


def test_cleaning_takes_what_killed_processes_left_and_nothing_else(store, combination, made_result, fill):
    fill(store, {"mse": 0.0})
    trial = Trial(combination(), 1, 0)
    before = sorted(store.folder.rglob("*"))
    folder = store.paths()[0].parent
    old, new = (folder / name for name in (".rankplug-abcdefgh.tmp", ".rankplug-x_345678.tmp"))
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (0, 0))
    failure = store.write(failed_result(trial, "ValueError: no"))
    with store.claim(Trial(combination(), 1, 9)):
        free = store.folder / ".locks" / f"{trial.identity}.lock"
        free.touch()
        found = leftovers(store)
        assert [finding.path for finding in found] == sorted([old, free, failure])
        remove(found)
    new.unlink()
    (store.folder / ".locks").rmdir()
    assert sorted(store.folder.rglob("*")) == before


def test_files_and_folders_of_the_user_stay_whatever_they_are_called(tmp_path, monkeypatch, fill):
    fill(Store(tmp_path), {"mse": 0.0}, trials=1)
    result = Store(tmp_path).paths()[0]
    own = [
        "own/draft.tmp", "own/sub.tmp/thesis.txt", "draft.tmp", ".draft.tmp", "notebooks/.my_draft.tmp",
        ".locks/uv.lock", "own/.rankplug-abcdefgh.tmp", "poetry.lock", "own/b.failed.json", "own/b.parquet",
        f"{result.parent.name}/draft.tmp", f"{result.parent.name}/notes.txt", f"{result.parent.name}/copy.parquet",
        f"{result.parent.name}/.rankplug-abcdefgh.tmp.d/notes.txt",
    ]  # fmt: skip
    for name in own:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        os.utime(path, (0, 0))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Combination, "versions", {"rankplug": "9"})
    said = clean(Store("."), "--outdated", "--yes")
    assert "2 files deleted" in said
    assert not result.exists()
    assert {str(path.relative_to(tmp_path)) for path in files(Store(tmp_path))} == set(own)


def test_nothing_is_deleted_without_yes(store, monkeypatch, fill):
    fill(store, {"mse": 0.0})
    before = files(store)
    monkeypatch.setattr(Combination, "versions", {"rankplug": "9"})
    for words in ((), ("--outdated",), ("--outdated", "--dry-run"), ("--outdated", "--dry-run", "--yes")):
        said = clean(store, *words)
        assert files(store) == before
        if "--outdated" in words:
            assert "6 files would be deleted; --yes deletes them" in said
    assert "6 files deleted" in clean(store, "--outdated", "--yes")
    assert files(store) == []


def test_results_of_other_versions_and_defaults_are_outdated(store, monkeypatch, combination, made_result, fill):
    now = combination().versions
    with monkeypatch.context() as patch:
        patch.setattr(Combination, "versions", {**now, "lightgbm": "1.0"})
        older = combination()
        store.write(made_result(Trial(older)))
    with monkeypatch.context() as patch:
        plugin = registry().find("loss", "lambdarank").specification.parameters
        patch.setattr(plugin.model_fields["sigma"], "default", 7.0)
        plugin.model_rebuild(force=True)
        other = combination("lambdarank")
        store.write(made_result(Trial(other)))
    plugin.model_rebuild(force=True)
    fill(store, {"ranknet": 0.0})
    found, unknown = outdated(store)
    assert {finding.path.name: finding.why for finding in found} == {
        older.identity: f"lightgbm 1.0 then, {now['lightgbm']} now",
        other.identity: "loss lambdarank has other parameters",
    }
    assert not unknown


@pytest.fixture
def own_data(tmp_path, monkeypatch):
    """Make a user's folder with data, which is the working folder."""
    folder = tmp_path / "project"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "train.txt").write_text(LINES)
    (folder / "train.txt").write_text(LINES)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("name", ["train.txt", "data"])
def test_results_whose_data_are_away_are_kept_and_said(store, own_data, tmp_path, monkeypatch, fill, name):
    fill(store, {"mse": 0.0}, dataset=f"letor-file[path={name}]")
    before = files(store)

    def said() -> str:
        printed = clean(store, "--outdated", "--yes")
        assert files(store) == before
        return printed

    assert "kept" not in said(), "the data are here, and the same"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert f"the data of letor-file[path={name}] are not here" in said()
    monkeypatch.chdir(own_data)
    shutil.move(own_data / name, tmp_path / "away")
    assert "are not here" in said()
    if name == "data":
        (own_data / name).mkdir()
        assert "are not here" in said(), "an empty folder is where the disk would be mounted"


def test_results_of_edited_data_are_outdated(store, own_data, fill):
    fill(store, {"mse": 0.0}, dataset="letor-file[path=train.txt]")
    (own_data / "train.txt").write_text(LINES.replace("0.1", "0.9"))
    found, unknown = outdated(store)
    assert [finding.why for finding in found] == ["the data of letor-file[path=train.txt] are others"]
    assert not unknown


def test_results_of_plugins_and_engines_that_are_not_here_and_damaged_ones_are_kept_and_said(
    store: Store, monkeypatch: pytest.MonkeyPatch, combination: Make, made_result: Make, fill: Make
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Combination, "versions", {**combination().versions, "absent-engine": "1.0"})
        absent = store.write(made_result(Trial(combination("ranknet"))))
    fill(store, {"mse": 0.0, "listnet": 0.0}, trials=1, folds=(1,))
    cut, _ = (store.path(Trial(combination(loss))) for loss in ("mse", "listnet"))
    cut.write_bytes(cut.read_bytes()[:-20])
    registry()._plugins["loss"].pop("listnet")
    try:
        found, unknown = outdated(store)
    finally:
        registry.cache_clear()
    assert not found
    reasons = " ".join(sorted(finding.why for finding in unknown))
    assert len(unknown) == 3
    for words in ("absent-engine is not installed here", "there is no loss called listnet", f"{cut.name} is damaged"):
        assert words in reasons
    assert absent.exists()
