"""Questions to a store: tables, means, intervals, SQL and comparisons."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.store import ResultsError, Trial, compare, query
from rankplug.sweeps import failed_result

QUERIES = 30


def test_results_are_tidy_means_over_the_queries_that_count(store, combination, made_result, fill):
    fill(store, {"mse": 0.0}, trials=2)
    frame = rp.results(store, metric="mrr")
    assert len(frame) == 4
    first = frame[(frame["fold"] == 1) & (frame["trial"] == 0)].iloc[0]
    values = made_result(Trial(combination(), 1, 0)).queries["mrr"]
    assert first["value"] == pytest.approx(np.nanmean(values))
    assert first["queries"] == QUERIES - 1


def test_groups_have_students_interval_over_trials(store, combination, made_result, fill):
    fill(store, {"mse": 0.0, "ranknet": 0.2}, trials=4)
    grouped = rp.results(store, group_by="loss", metric="ndcg@5")
    assert grouped["loss"].tolist() == ["mse", "ranknet"]
    means = [
        np.mean([made_result(Trial(combination(), fold, number)).queries["ndcg@5"].mean() for fold in (1, 2)])
        for number in range(4)
    ]
    low, high = scipy.stats.t.interval(0.95, 3, np.mean(means), scipy.stats.sem(means))
    assert grouped.loc[0, ["mean", "low", "high", "trials"]].tolist() == pytest.approx([np.mean(means), low, high, 4])


def test_sql_sees_trials_queries_curves_and_failures(store, combination, fill):
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
        "attach 'TARGET'",
        "set enable_external_access = true",
        "select * from read_text('RESULT')",
        "copy (select * from trials) to 'RESULT' (use_tmp_file false)",
        "select 1; copy (select * from trials) to 'TARGET'",
        "select * from frame",
    ],
)
def test_a_question_writes_no_file_and_reads_only_results(store, tmp_path, fill, sql):
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


def test_a_comparison_pairs_trials_and_queries(store, combination, fill):
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


@pytest.mark.parametrize("form", ["table", "csv", "json", "latex", "markdown"])
def test_the_command_writes_every_format(store, form, fill):
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
