"""A store gives back what was written, loses nothing, and says in a sentence what is wrong with it."""

from __future__ import annotations

import errno
import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest
import scipy.stats
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.store import Combination, ResultsError, Store, Trial, compare, failed_result, query, result_files
from rankplug.store import upkeep as store_upkeep
from rankplug.store.result_files import KEY, StoreError
from rankplug.sweeps import read_file

QUERIES = 30


def test_a_result_is_read_as_it_was_written(
    store: Store, combination: Callable[..., Any], made_result: Callable[..., Any]
) -> None:
    result = made_result(Trial(combination("lambdarank[sigma=2]"), 2, 1))
    store.write(result)
    read = store.read(result.trial)
    assert read.trial == result.trial
    assert read.query_ids == result.query_ids
    for metric, values in result.queries.items():
        np.testing.assert_array_equal(read.queries[metric], values)
    assert read.curve.columns == result.curve.columns
    assert read.curve.iterations == result.curve.iterations
    assert read.record == result.record


def test_other_programs_read_the_numbers(
    store: Store, combination: Callable[..., Any], made_result: Callable[..., Any]
) -> None:
    result = made_result(Trial(combination()))
    path = store.write(result)
    mean = duckdb.sql(
        f"select avg(value) from '{path}' where measure = 'query' and metric = 'ndcg@5' and part = 'test'"
    ).fetchall()
    assert mean[0][0] == pytest.approx(result.queries["ndcg@5"].mean())


def test_a_finished_trial_takes_the_place_of_its_failure_and_a_failure_is_no_result(
    store: Store, combination: Callable[..., Any], made_result: Callable[..., Any]
) -> None:
    trial = Trial(combination())
    store.write(failed_result(trial, "Traceback ...\nValueError: no"))
    assert not store.has(trial) and store.has_failed(trial)
    assert store.failures()[0]["failure"].endswith("ValueError: no")
    assert store.frame().empty
    store.write(made_result(trial))
    assert store.has(trial) and not store.has_failed(trial)


def test_a_full_disk_is_told_and_leaves_nothing_half_written(
    store: Store, monkeypatch: pytest.MonkeyPatch, combination: Callable[..., Any], made_result: Callable[..., Any]
) -> None:
    store.write(made_result(Trial(combination(), 1, 0)))

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device; free space"):
        store.write(made_result(Trial(combination(), 1, 1)))
    assert [path.name[-14:] for path in store.folder.rglob("*") if path.is_file()] == ["-f1-t0.parquet"]


def test_a_folder_that_cannot_be_written_is_told_before_training(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot write .*name another folder with --store"):
        rp.sweep({"dataset": "synthetic", "backend": "lightgbm", "loss": "mse"}, store=Store(tmp_path / "file"))


def test_a_damaged_file_is_named(
    store: Store, combination: Callable[..., Any], made_result: Callable[..., Any]
) -> None:
    trial = Trial(combination())
    path = store.write(made_result(trial))
    path.write_bytes(path.read_bytes()[:-20])
    for read in (lambda: store.read(trial), store.frame, lambda: rp.results(store)):
        with pytest.raises(StoreError, match=f"{path.name} is damaged"):
            read()


def test_a_file_of_another_format_or_program_is_named(
    store: Store, monkeypatch: pytest.MonkeyPatch, combination: Callable[..., Any], made_result: Callable[..., Any]
) -> None:
    trial = Trial(combination())
    monkeypatch.setattr(result_files, "FORMAT", 0)
    path = store.write(made_result(trial))
    monkeypatch.undo()
    with pytest.raises(StoreError, match="has format 0, this version of rankplug reads format"):
        store.read(trial)
    pd.DataFrame({"value": [1.0]}).to_parquet(path)
    with pytest.raises(StoreError, match="is not a result of rankplug"):
        store.frame()


@pytest.mark.parametrize(("changed", "words"), [("identity", "its identity"), ("record", "its record fit_seconds")])
def test_a_forged_description_is_damage(
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    changed: str,
    words: str,
    combination: Callable[..., Any],
    made_result: Callable[..., Any],
) -> None:
    forged = {"identity": "../../outside", "record": {"fit_seconds": "<b>"}}[changed]
    described = result_files.describe
    monkeypatch.setattr(result_files, "describe", lambda result: {**described(result), changed: forged})
    path = store.write(made_result(Trial(combination())))
    with pytest.raises(StoreError, match=f"{path.name} is damaged .*{words}"):
        store.read(Trial(combination()))


def test_results_are_tidy_means_over_the_queries_that_count(
    store: Store, combination: Callable[..., Any], made_result: Callable[..., Any], fill: Callable[..., Any]
) -> None:
    fill(store, {"mse": 0.0}, trials=2)
    frame = rp.results(store, metric="mrr")
    assert len(frame) == 4
    first = frame[(frame["fold"] == 1) & (frame["trial"] == 0)].iloc[0]
    values = made_result(Trial(combination(), 1, 0)).queries["mrr"]
    assert first["value"] == pytest.approx(np.nanmean(values))
    assert first["queries"] == QUERIES - 1


def test_groups_have_students_interval_over_trials(
    store: Store, combination: Callable[..., Any], made_result: Callable[..., Any], fill: Callable[..., Any]
) -> None:
    fill(store, {"mse": 0.0, "ranknet": 0.2}, trials=4)
    grouped = rp.results(store, group_by="loss", metric="ndcg@5")
    assert grouped["loss"].tolist() == ["mse", "ranknet"]
    means = [
        np.mean([made_result(Trial(combination(), fold, number)).queries["ndcg@5"].mean() for fold in (1, 2)])
        for number in range(4)
    ]
    low, high = scipy.stats.t.interval(0.95, 3, np.mean(means), scipy.stats.sem(means))
    assert grouped.loc[0, ["mean", "low", "high", "trials"]].tolist() == pytest.approx([np.mean(means), low, high, 4])


def test_questions_that_cannot_be_answered_are_told(store: Store, fill: Callable[..., Any]) -> None:
    fill(store, {"mse": 0.0})
    with pytest.raises(ResultsError, match=r"no result has the metric ndcg@50: did you mean ndcg@5\?"):
        rp.results(store, metric="ndcg@50")
    with pytest.raises(ResultsError, match=r"cannot be grouped by los: did you mean loss\?"):
        rp.results(store, group_by=["los"])
    with pytest.raises(ResultsError, match="cannot answer this query"):
        query("select nothing from nowhere", store)
    assert rp.results(Store(store.folder / "empty")).empty


def test_sql_sees_trials_queries_curves_and_failures(
    store: Store, combination: Callable[..., Any], fill: Callable[..., Any]
) -> None:
    fill(store, {"mse": 0.0}, trials=2)
    store.write(failed_result(Trial(combination("ranknet")), "ValueError: no"))
    assert query("select count(*) as n from trials", store)["n"][0] == 4
    assert query("select count(*) as n from queries", store)["n"][0] == 4 * 2 * QUERIES
    assert query("select max(iteration) as n from curves where part = 'valid'", store)["n"][0] == 3
    assert query("select loss, failure from failures", store).values.tolist() == [["ranknet", "ValueError: no"]]


@pytest.mark.parametrize(
    "sql",
    [
        "copy (select * from trials) to 'TARGET'",
        "copy (select * from trials) to 'TARGET' (use_tmp_file false)",
        "copy (pivot queries on metric using avg(value)) to 'TARGET'",
        "attach 'TARGET'",
        "export database 'TARGET'",
        "set enable_external_access = true",
        "select * from read_text('RESULT')",
        "select * from 'RESULT'",
        "copy (select * from trials) to 'RESULT' (use_tmp_file false)",
        "select 1; copy (select * from trials) to 'TARGET'",
        "select * from frame",
    ],
)
def test_a_question_writes_no_file_and_reads_only_results(
    store: Store, tmp_path: Path, fill: Callable[..., Any], sql: str
) -> None:
    fill(store, {"mse": 0.0}, trials=1, folds=(1,))
    before = store.paths()[0].read_bytes()
    frame = pd.DataFrame({"a": [1]})
    with pytest.raises(ResultsError, match="cannot answer this query"):
        query(sql.replace("TARGET", str(tmp_path / "evil")).replace("RESULT", str(store.paths()[0])), store)
    with pytest.raises(ResultsError, match="cannot answer this query"):
        rp.results(store, where=f"true) as x; {sql.replace('TARGET', str(tmp_path / 'evil'))} --")
    assert [path.name for path in tmp_path.iterdir()] == ["results"]
    assert store.paths()[0].read_bytes() == before
    assert len(frame) == 1


def test_a_comparison_pairs_trials_and_queries(
    store: Store, combination: Callable[..., Any], fill: Callable[..., Any]
) -> None:
    fill(store, {"mse": 0.0, "ranknet": 0.0, "listnet": 0.3})
    alike = compare("loss = 'mse'", "loss = 'ranknet'", store=store, metric="ndcg@5")
    assert alike[["difference", "low", "high", "p"]].values.tolist() == [[0.0, 0.0, 0.0, 1.0]] * 2
    better = compare("loss = 'listnet'", "loss = 'mse'", store=store, metric="ndcg@5", level=0.9)
    assert better[["first", "second", "unit", "pairs", "test"]].values.tolist() == [
        ["listnet", "mse", "trials", 6, "paired t test"],
        ["listnet", "mse", "queries", 2 * QUERIES, "paired permutation test"],
    ]
    trials = [
        Trial(combination(loss), fold, number) for loss in ("listnet", "mse") for fold in (1, 2) for number in range(3)
    ]
    means = np.array([store.read(trial).queries["ndcg@5"].mean() for trial in trials]).reshape(2, 6)
    of_trials = better.iloc[0]
    assert of_trials["difference"] == pytest.approx((means[0] - means[1]).mean())
    assert of_trials[["mean_first", "mean_second"]].tolist() == pytest.approx(means.mean(axis=1))
    test = scipy.stats.ttest_rel(*means)
    assert of_trials["p"] == pytest.approx(test.pvalue)
    assert of_trials[["low", "high"]].tolist() == pytest.approx(list(test.confidence_interval(0.9)))
    of_queries = better.iloc[1]
    assert 0.2 < of_queries["low"] < of_queries["difference"] < of_queries["high"] <= 0.3
    with pytest.raises(ResultsError, match="picks 3 combinations on synthetic; narrow it"):
        compare("seed = 0", "loss = 'mse'", store=store)
    with pytest.raises(ResultsError, match="no result meets the condition loss = 'x'"):
        compare("loss = 'x'", "loss = 'mse'", store=store)


def test_stores_of_two_machines_are_merged(
    tmp_path: Path, combination: Callable[..., Any], fill: Callable[..., Any]
) -> None:
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    fill(here, {"mse": 0.0})
    fill(there, {"mse": 0.0, "ranknet": 0.0})
    there.write(failed_result(Trial(combination("listnet")), "ValueError: no"))
    there.write_file(there.notebook_path(combination()), b"{}")
    merged = store_upkeep.merge(here, [there.folder])
    assert (merged.new, merged.there) == (6, 6)
    assert len(here.paths()) == 12 and len(here.failures()) == 1
    assert here.notebook_path(combination()).read_bytes() == b"{}"
    with pytest.raises(StoreError, match="there is no store at"):
        store_upkeep.merge(here, [tmp_path / "nowhere"])


def test_an_archive_is_merged_with_its_origin_and_one_that_was_changed_is_refused(
    tmp_path: Path, fill: Callable[..., Any]
) -> None:
    here, there, third = (Store(tmp_path / name) for name in ("here", "there", "third"))
    fill(here, {"mse": 0.0}, trials=2, folds=(1,))
    fill(there, {"mse": 0.5, "ranknet": 0.0}, trials=2, folds=(1,))
    archive = store_upkeep.export(there, tmp_path / "jane.zip")
    merged = store_upkeep.merge(here, [archive])
    assert (merged.new, merged.there, len(merged.unlike)) == (2, 2, 2)
    told = query("select distinct loss, origin from trials order by all", here)
    assert told.to_numpy().tolist() == [["mse", ""], ["ranknet", "jane.zip"]]
    groups = rp.results(here, group_by="loss", metric="mrr").set_index("loss")
    assert groups["origins"].to_dict() == {"mse": "", "ranknet": "jane.zip"}
    store_upkeep.merge(third, [store_upkeep.export(here, tmp_path / "both.zip")], "the lab")
    assert set(query("select origin from trials", third)["origin"]) == {"the lab", "jane.zip"}

    with zipfile.ZipFile(archive) as file:
        file.extractall(tmp_path / "unpacked")
    assert store_upkeep.merge(Store(tmp_path / "fourth"), [tmp_path / "unpacked"]).new == 4
    (first, *_) = sorted((tmp_path / "unpacked" / "results").glob("*/*.parquet"))
    content = bytearray(first.read_bytes())
    content[10] ^= 1
    first.write_bytes(content)
    name = first.relative_to(tmp_path / "unpacked")
    with pytest.raises(StoreError, match=f"unpacked: {name} is not what it was: .*; nothing of it was merged"):
        store_upkeep.merge(Store(tmp_path / "fifth"), [tmp_path / "unpacked"])
    assert not (tmp_path / "fifth").exists()


def test_a_result_whose_versions_were_rewritten_is_refused(
    store: Store, tmp_path: Path, fill: Callable[..., Any]
) -> None:
    fill(store, {"mse": 0.0}, trials=1, folds=(1,))
    (path,) = store.paths()
    table = parquet.read_table(path)
    about = json.loads(table.schema.metadata[KEY])
    about["versions"]["rankplug"] = "9.9"
    parquet.write_table(table.replace_schema_metadata({KEY: json.dumps(about).encode()}), path)
    with pytest.raises(StoreError, match="something else than its name, which is a digest of them"):
        store_upkeep.merge(Store(tmp_path / "other"), [store.folder])


def test_results_of_other_versions_stand_beside_ours_and_are_never_in_one_mean(
    store: Store, tmp_path: Path, fill: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, {"mse": 0.0}, trials=2, folds=(1,))
    other = Store(tmp_path / "other")
    versions = Combination.versions.func
    monkeypatch.setattr(
        Combination, "versions", property(lambda combination: {**versions(combination), "lightgbm": "0.1"})
    )
    fill(other, {"mse": 0.5}, trials=2, folds=(1,))
    monkeypatch.undo()
    assert store_upkeep.merge(store, [other.folder]).new == 2
    with pytest.raises(ResultsError, match="would mix results of other versions"):
        rp.results(store, group_by="loss", metric="mrr")
    beside = rp.results(store, group_by=["loss", "combination"], metric="mrr")
    assert beside["trials"].tolist() == [2, 2] and sorted(beside["origins"]) == ["", "other"]


def test_an_export_has_everything_to_run_it_again(store: Store, tmp_path: Path, fill: Callable[..., Any]) -> None:
    fill(store, {"mse": 0.0, "ranknet": 0.0}, trials=6, folds=(1,))
    archive = zipfile.ZipFile(io.BytesIO(store_upkeep.export(store, tmp_path / "all.zip").read_bytes()))
    archive.extractall(tmp_path / "all")
    again = read_file(tmp_path / "all" / "sweep.yaml").plan(Store(tmp_path / "all" / "results"))
    assert (len(again.done), len(again.waiting)) == (12, 0)
    records = json.loads((tmp_path / "all" / "records.json").read_text())
    assert {"seed", "versions", "plugins", "combination", "data_fingerprint", "record"} <= set(records[0])


def test_an_export_that_cannot_be_written_leaves_the_earlier_archive(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fill: Callable[..., Any]
) -> None:
    fill(store, {"mse": 0.0})
    archive = store_upkeep.export(store, tmp_path / "all.zip")
    before = archive.read_bytes()
    written = zipfile.ZipFile.write

    def full(self: zipfile.ZipFile, path: Path, name: Path) -> None:
        if path == store.paths()[3]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written(self, path, name)

    monkeypatch.setattr(zipfile.ZipFile, "write", full)
    for target, words in (
        (
            archive,
            r"No space left on device \(the file of that name is as it was\); free space, or name a file on another",
        ),
        (tmp_path / "new.zip", "No space left on device; free space, or name a file on another disk"),
        (tmp_path / "nowhere" / "new.zip", "No such file or directory; name a file in a folder that exists"),
    ):
        with pytest.raises(StoreError, match=f"cannot write {target}: {words}"):
            store_upkeep.export(store, target)
    assert archive.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.zip", "results"]


def test_an_export_replaces_files_only_and_what_a_link_points_to(
    store: Store, tmp_path: Path, fill: Callable[..., Any]
) -> None:
    fill(store, {"mse": 0.0}, trials=1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="Is no regular file"):
        store_upkeep.export(store, tmp_path / "pipe")
    (tmp_path / "link.zip").symlink_to(tmp_path / "there.zip")
    store_upkeep.export(store, tmp_path / "link.zip")
    assert (tmp_path / "link.zip").is_symlink()
    assert zipfile.is_zipfile(tmp_path / "there.zip")


@pytest.mark.parametrize("year", [1970, 2242])
def test_times_that_an_archive_cannot_hold_do_not_stop_an_export(
    store: Store, tmp_path: Path, fill: Callable[..., Any], year: int
) -> None:
    fill(store, {"mse": 0.0}, trials=1, folds=(1,))
    time = (year - 1970) * 31_557_600
    os.utime(store.paths()[0], (time, time))
    assert len(zipfile.ZipFile(store_upkeep.export(store, tmp_path / "all.zip")).namelist()) == 5


@pytest.mark.parametrize("form", ["table", "csv", "json", "latex", "markdown"])
def test_the_command_writes_every_format(store: Store, form: str, fill: Callable[..., Any]) -> None:
    fill(store, {"mse": 0.0})
    words = ["results", "--store", str(store.folder), "--group-by", "loss", "--metric", "mrr", "--format", form]
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 0, ran.output
    mean = rp.results(store, group_by="loss", metric="mrr")["mean"][0]
    assert f"{mean:.4f}"[:5] in ran.output
    if form == "csv":
        assert pd.read_csv(io.StringIO(ran.output))["mean"][0] == pytest.approx(mean)
    if form == "json":
        assert json.loads(ran.output)[0]["mean"] == pytest.approx(mean)


@pytest.mark.parametrize("form", ["table", "latex", "markdown"])
def test_tables_for_people_leave_out_parts_that_no_combination_has(
    store: Store, form: str, fill: Callable[..., Any]
) -> None:
    fill(store, {"mse": 0.0}, trials=1)
    words = ["results", "--store", str(store.folder), "--format", form]
    ran = CliRunner().invoke(app, words)
    assert "loss" in ran.output
    assert "sampler" not in ran.output
    grouped = CliRunner().invoke(app, [*words, "--group-by", "loss"])
    assert "low" in grouped.output, "an interval that one trial cannot give is said to be missing"


def test_the_commands_for_upkeep_run(store: Store, tmp_path: Path, fill: Callable[..., Any]) -> None:
    fill(store, {"mse": 0.0, "ranknet": 0.1})
    runner, there = CliRunner(), ["--store", str(store.folder)]
    compared = runner.invoke(app, ["results", "compare", "loss = 'mse'", "loss = 'ranknet'", *there, "--format", "csv"])
    assert compared.exit_code == 0 and "ndcg@5" in compared.output
    merged = runner.invoke(app, ["results", "merge", str(store.folder), "--store", str(tmp_path / "new")])
    assert "12 results came new" in merged.output
    assert (
        "0 files would be deleted" in runner.invoke(app, ["results", "clean", "--dry-run", "--outdated", *there]).output
    )
    assert runner.invoke(app, ["results", "export", str(tmp_path / "x.zip"), *there]).exit_code == 0
