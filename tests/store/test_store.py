"""A store gives back what was written, loses nothing, and says in a sentence what is wrong with it."""

from __future__ import annotations

import errno
import os
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import rankplug as rp
from rankplug.store import Store, Trial, _files
from rankplug.store._files import StoreError
from rankplug.sweeps import failed_result, run_trial


def test_a_result_is_read_as_it_was_written(store, combination, made_result):
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


def test_without_a_training_curve_everything_else_is_the_same(store):
    parts = {"dataset": "synthetic[queries=30]", "scorer": "mlp[layers=(4,)]", "loss": "mse"}
    asked = rp.Combination(**parts, backend="torch[epochs=3]")
    whole, without = (run_trial(Trial(combination), progress=False) for combination in (
        asked, asked.model_copy(update={"train_curve": False})
    ))  # fmt: skip
    store.write(without)
    read = store.read(without.trial)
    assert not read.trial.combination.train_curve and whole.trial.combination.train_curve
    assert {name for name in whole.curve.columns if name.startswith("train")} == {"train loss", "train ndcg@5"}
    assert {name for name in read.curve.columns if name.startswith("train")} == {"train loss"}
    for name, column in read.curve.columns.items():
        assert column == whole.curve.columns[name]
    for metric, values in read.queries.items():
        np.testing.assert_array_equal(values, whole.queries[metric])
    assert store.frame()["train_curve"].unique().tolist() == [False]


def test_other_programs_read_the_numbers(store, combination, made_result):
    result = made_result(Trial(combination()))
    path = store.write(result)
    mean = duckdb.sql(
        f"select avg(value) from '{path}' where measure = 'query' and metric = 'ndcg@5' and part = 'test'"
    ).fetchall()
    assert mean[0][0] == pytest.approx(result.queries["ndcg@5"].mean())


def test_a_finished_trial_takes_the_place_of_its_failure_and_a_failure_is_no_result(store, combination, made_result):
    trial = Trial(combination())
    store.write(failed_result(trial, "Traceback ...\nValueError: no"))
    assert not store.has(trial) and store.has_failed(trial)
    assert store.failures()[0]["failure"].endswith("ValueError: no")
    assert store.frame().empty
    store.write(made_result(trial))
    assert store.has(trial) and not store.has_failed(trial)


def test_a_full_disk_is_told_and_leaves_nothing_half_written(store, monkeypatch, combination, made_result):
    store.write(made_result(Trial(combination(), 1, 0)))

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device; free space"):
        store.write(made_result(Trial(combination(), 1, 1)))
    assert [path.name[-14:] for path in store.folder.rglob("*") if path.is_file()] == ["-f1-t0.parquet"]


def test_a_folder_that_cannot_be_written_is_told_before_training(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot write .*name another folder with --store"):
        rp.sweep({"dataset": "synthetic", "backend": "lightgbm", "loss": "mse"}, store=Store(tmp_path / "file"))


def test_a_file_of_another_format_or_program_is_named(store, monkeypatch, combination, made_result):
    trial = Trial(combination())
    monkeypatch.setattr(_files, "FORMAT", 0)
    path = store.write(made_result(trial))
    monkeypatch.undo()
    with pytest.raises(StoreError, match="has format 0, this version of rankplug reads format"):
        store.read(trial)
    pd.DataFrame({"value": [1.0]}).to_parquet(path)
    with pytest.raises(StoreError, match="is not a result of rankplug"):
        store.frame()
