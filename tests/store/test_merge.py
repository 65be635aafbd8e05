"""Stores are merged and exported whole, or not at all."""

from __future__ import annotations

import errno
import json
import os
import types
import zipfile
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

import rankplug as rp
from rankplug.store import Combination, ResultsError, Store, StoreError, Trial, export, merge, query, verify
from rankplug.store._files import KEY
from rankplug.sweeps import failed_result, read_file


def test_stores_of_two_machines_are_merged(tmp_path, combination, fill):
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    fill(here, {"mse": 0.0})
    fill(there, {"mse": 0.0, "ranknet": 0.0})
    there.write(failed_result(Trial(combination("listnet")), "ValueError: no"))
    there.write_file(there.notebook_path(combination()), b"{}")
    merged = merge(here, [there.folder])
    assert (merged.new, merged.there) == (6, 6)
    assert len(here.paths()) == 12 and len(here.failures()) == 1
    assert here.notebook_path(combination()).read_bytes() == b"{}"
    with pytest.raises(StoreError, match="there is no store at"):
        merge(here, [tmp_path / "nowhere"])


def test_an_archive_is_merged_with_its_origin_and_one_that_was_changed_is_refused(tmp_path, fill):
    here, there, third = (Store(tmp_path / name) for name in ("here", "there", "third"))
    fill(here, {"mse": 0.0}, trials=2, folds=(1,))
    fill(there, {"mse": 0.5, "ranknet": 0.0}, trials=2, folds=(1,))
    archive = export(there, tmp_path / "jane.zip")
    merged = merge(here, [archive])
    assert (merged.new, merged.there, len(merged.unlike)) == (2, 2, 2)
    told = query("select distinct loss, origin from trials order by all", here)
    assert told.to_numpy().tolist() == [["mse", ""], ["ranknet", "jane.zip"]]
    groups = rp.results(here, group_by="loss", metric="mrr").set_index("loss")
    assert groups["origins"].to_dict() == {"mse": "", "ranknet": "jane.zip"}
    merge(third, [export(here, tmp_path / "both.zip")], "the lab")
    assert set(query("select origin from trials", third)["origin"]) == {"the lab", "jane.zip"}

    with zipfile.ZipFile(archive) as file:
        file.extractall(tmp_path / "unpacked")
    assert merge(Store(tmp_path / "fourth"), [tmp_path / "unpacked"]).new == 4
    (first, *_) = sorted((tmp_path / "unpacked" / "results").glob("*/*.parquet"))
    content = bytearray(first.read_bytes())
    content[10] ^= 1
    first.write_bytes(content)
    name = first.relative_to(tmp_path / "unpacked")
    with pytest.raises(StoreError, match=f"unpacked: {name} was changed: .*; nothing of it was merged"):
        merge(Store(tmp_path / "fifth"), [tmp_path / "unpacked"])
    assert not (tmp_path / "fifth").exists()


def test_a_result_whose_versions_were_rewritten_is_refused(store, tmp_path, fill):
    fill(store, {"mse": 0.0}, trials=1, folds=(1,))
    (path,) = store.paths()
    table = parquet.read_table(path)
    about = json.loads(table.schema.metadata[KEY])
    about["versions"]["rankplug"] = "9.9"
    parquet.write_table(table.replace_schema_metadata({KEY: json.dumps(about).encode()}), path)
    with pytest.raises(StoreError, match="its name is not the digest of its plugins"):
        merge(Store(tmp_path / "other"), [store.folder])


def test_results_of_other_versions_stand_beside_ours_and_are_never_in_one_mean(store, tmp_path, fill, monkeypatch):
    fill(store, {"mse": 0.0}, trials=2, folds=(1,))
    other = Store(tmp_path / "other")
    versions = Combination.versions.func
    monkeypatch.setattr(
        Combination, "versions", property(lambda combination: {**versions(combination), "lightgbm": "0.1"})
    )
    fill(other, {"mse": 0.5}, trials=2, folds=(1,))
    monkeypatch.undo()
    assert merge(store, [other.folder]).new == 2
    with pytest.raises(ResultsError, match="would mix results of other versions"):
        rp.results(store, group_by="loss", metric="mrr")
    beside = rp.results(store, group_by=["loss", "combination"], metric="mrr")
    assert beside["trials"].tolist() == [2, 2] and sorted(beside["origins"]) == ["", "other"]


@pytest.mark.parametrize(("free", "words"), [(1 << 20, "are free in"), (1 << 40, "more than 50 times its size")])
def test_an_archive_that_grows_too_much_writes_nothing(store, tmp_path, fill, monkeypatch, free, words):
    fill(store, {"mse": 0.0}, trials=1)
    archive = export(store, tmp_path / "jane.zip")
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("more", bytes(120 << 20))
    monkeypatch.setattr("shutil.disk_usage", lambda folder: types.SimpleNamespace(free=free))
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *words: pytest.fail("something is unpacked"))
    with pytest.raises(StoreError, match=rf"jane.zip .*it unpacks to 12.* bytes, .*{words}"):
        merge(Store(tmp_path / "here"), [archive])


def test_a_killed_merge_keeps_the_origins(tmp_path, fill, monkeypatch):
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    fill(there, {"mse": 0.0, "ranknet": 0.0}, trials=2, folds=(1,))
    write, written = Store.write_file, []

    def killed_at_the_third(self: Store, path: Path, content: bytes) -> None:
        if len(written) == 2:
            raise SystemExit(9)
        written.append(path)
        write(self, path, content)

    monkeypatch.setattr(Store, "write_file", killed_at_the_third)
    with pytest.raises(SystemExit):
        merge(here, [there.folder], "jane")
    monkeypatch.undo()
    assert query("select origin from trials", here)["origin"].tolist() == ["jane", "jane"]
    assert merge(here, [there.folder], "jane").new == 2
    assert query("select origin from trials", here)["origin"].tolist() == ["jane"] * 4


def test_a_result_under_another_name_is_not_merged(store, tmp_path, fill):
    fill(store, {"mse": 0.0}, trials=1, folds=(1,))
    path = store.paths()[0]
    path.rename(path.with_name(path.name.replace("-t0", "-t7")))
    with pytest.raises(StoreError, match="by its description; move it out of the folder"):
        merge(Store(tmp_path / "here"), [store.folder])


def test_an_export_plans_exactly_what_was_run(store, tmp_path, combination, made_result):
    trials = [("mse", 1, 0), ("mse", 1, 2), ("ranknet[]", 1, 0), ("lambdarank[sigma=2]", 1, 5)]
    for loss, fold, number in trials:
        store.write(made_result(Trial(combination(loss), fold, number)))
    archive = export(store, tmp_path / "all.zip")
    with zipfile.ZipFile(archive) as file:
        file.extractall(tmp_path / "all")
    sweep = read_file(tmp_path / "all" / "sweep.yaml")
    again = sweep.plan(Store(tmp_path / "all" / "results"))
    assert (len(again.done), len(again.waiting)) == (4, 0)
    fresh = sweep.plan(Store(tmp_path / "new"))
    assert {trial.identity for trial in fresh.waiting} == {path.stem for path in store.paths()}
    records = json.loads((tmp_path / "all" / "records.json").read_text())
    assert {"seed", "versions", "plugins", "combination", "data_fingerprint", "record"} <= set(records[0])
    assert verify(tmp_path / "all") == (7, [])


def test_an_export_that_cannot_be_written_leaves_the_earlier_archive(store, tmp_path, monkeypatch, fill):
    fill(store, {"mse": 0.0})
    archive = export(store, tmp_path / "all.zip")
    before = archive.read_bytes()
    written = zipfile.ZipFile.write

    def full(self: zipfile.ZipFile, path: Path, name: Path) -> None:
        if path == store.paths()[3]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written(self, path, name)

    monkeypatch.setattr(zipfile.ZipFile, "write", full)
    for target in (archive, tmp_path / "new.zip"):
        with pytest.raises(StoreError, match=f"cannot write {target}: No space left on device"):
            export(store, target)
    assert archive.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.zip", "results"]


def test_an_export_replaces_archives_only_and_what_a_link_points_to(store, tmp_path, fill):
    fill(store, {"mse": 0.0}, trials=1)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"notes.txt is there already and is no archive; name another, or remove it"):
        export(store, tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    (tmp_path / "link.zip").symlink_to(tmp_path / "there.zip")
    export(store, tmp_path / "link.zip")
    assert (tmp_path / "link.zip").is_symlink()
    assert zipfile.is_zipfile(tmp_path / "there.zip")
