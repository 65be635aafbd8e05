"""Groups of results average like with like, say what they are made of, and know a plugin by one name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.store import Combination, ResultsError, Trial, query

ASKED: dict[str, Any] = {"metric": "ndcg@5"}


def test_a_group_that_mixes_backends_is_refused_until_the_mixture_is_allowed(store, fill):
    fill(store, {"mse": 0.0, "ranknet": 0.1}, trials=1)
    fill(store, {"mse": 0.2}, trials=1, backend="xgboost")
    with pytest.raises(ResultsError) as refused:
        rp.results(store, group_by="loss", **ASKED)
    assert str(refused.value) == (
        "a mean over mse would mix 2 combinations (backend: lightgbm, xgboost); add backend to --group-by, choose some"
        " with --where, or allow it with --pool backend"
    )
    apart = rp.results(store, group_by=["backend", "loss"], **ASKED)
    assert apart[["backend", "loss", "combinations"]].values.tolist() == [
        ["lightgbm", "mse", 1], ["lightgbm", "ranknet", 1], ["xgboost", "mse", 1],
    ]  # fmt: skip
    pooled = rp.results(store, group_by="loss", pool="backend", **ASKED).set_index("loss")
    assert pooled["combinations"].to_dict() == {"mse": 2, "ranknet": 1}
    of_mse = apart.loc[apart["loss"] == "mse", "mean"]
    assert pooled.loc["mse", "mean"] == pytest.approx(of_mse.mean())


@pytest.mark.parametrize(
    ("part", "value"),
    [("dataset", "synthetic[queries=60]"), ("patience", 5), ("transforms", ["log1p"])],
)
def test_whatever_else_differs_is_named_too(store, fill, part, value):
    fill(store, {"mse": 0.0}, trials=1)
    fill(store, {"mse": 0.0}, trials=1, **{part: value})
    with pytest.raises(ResultsError, match=rf"would mix 2 combinations \({part}: .*add {part} to --group-by"):
        rp.results(store, group_by="loss")
    assert len(rp.results(store, group_by=["loss", part], **ASKED)) == 2
    assert rp.results(store, group_by="loss", pool=part, **ASKED)["combinations"].tolist() == [2]


def test_results_of_two_versions_are_never_pooled_by_accident(store, monkeypatch, fill):
    fill(store, {"mse": 0.0}, trials=1)
    monkeypatch.setattr(Combination, "versions", {"rankplug": "9"})
    fill(store, {"mse": 0.3}, trials=1)
    with pytest.raises(ResultsError, match=r"would mix results of other versions, data or metrics \(\w{16}, \w{16}\)"):
        rp.results(store, group_by="loss")
    one = query("select combination from trials limit 1", store)["combination"][0]
    assert len(rp.results(store, group_by="loss", where=f"combination = '{one}'", **ASKED)) == 1
    assert len(rp.results(store, group_by=["loss", "combination"], **ASKED)) == 2
    assert rp.results(store, group_by="loss", pool="combination", **ASKED)["combinations"].tolist() == [2]


def test_trials_that_lack_folds_of_others_are_left_out_and_counted(store, fill):
    fill(store, {"mse": 0.0}, trials=2, folds=(1, 2))
    whole = rp.results(store, group_by="loss", **ASKED).iloc[0]
    fill(store, {"mse": 0.5}, trials=4, folds=(1,))
    fill(store, {"mse": 0.0}, trials=2, folds=(1,))
    row = rp.results(store, group_by="loss", **ASKED).iloc[0]
    assert (row["mean"], row["low"], row["high"]) == (whole["mean"], whole["low"], whole["high"])
    assert (row["trials"], row["incomplete"], row["folds"]) == (2, 2, 2)
    printed = CliRunner().invoke(app, ["results", "--store", str(store.folder), "--group-by", "loss"]).output
    assert "incomplete" in printed


def test_where_no_trial_is_complete_there_is_no_mean(store, combination, made_result):
    for fold, number in ((1, 0), (2, 1)):
        store.write(made_result(Trial(combination(), fold, number)))
    row = rp.results(store, group_by="loss", **ASKED).iloc[0]
    assert np.isnan(row["mean"]) and (row["trials"], row["incomplete"]) == (0, 2)


def test_a_plugin_has_one_name_however_it_was_written(store, fill):
    fill(store, {"lambdarank": 0.0}, trials=1, folds=(1,))
    fill(store, {"lambdarank[sigma=1.0]": 0.0}, trials=1, folds=(2,))
    fill(store, {"rankplug:lambdarank[norm=false,sigma=1]": 0.0}, trials=1, folds=(3,), scorer="trees")
    assert rp.results(store, group_by=["loss", "scorer"], **ASKED)[["loss", "scorer", "folds"]].values.tolist() == [
        ["lambdarank", "trees", 3]
    ]
    fill(store, {"lambdarank[norm=true,sigma=2.0]": 0.0, "lambdarank[sigma=2,norm=true]": 0.0}, trials=1)
    names = query("select distinct loss from trials order by loss", store)["loss"].tolist()
    assert names == ["lambdarank", "lambdarank[sigma=2,norm=true]"]


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("loss = 'lambdarank[sigma=1.0]'", 1),
        ("loss = 'lambdarank[norm=false,sigma=1]'", 1),
        ("loss in ('mse', 'rankplug:lambdarank[ norm = true, sigma = 2.0 ]')", 1),
        ("loss = 'lambdarank[norm=true,sigma=2]' or loss = 'lambdarank'", 2),
        ("loss like 'lambdarank[%' and 'it''s [' <> ''", 1),
        ("transforms = 'random_split[train=0.6] | label_flips[share=0.50]'", 1),
    ],
)
def test_a_condition_may_name_it_either_way(store, fill, condition, count):
    transforms = ["random_split", "label_flips[share=0.5]"]
    fill(store, {"lambdarank": 0.0}, trials=1, folds=(1,), transforms=transforms)
    fill(store, {"lambdarank[sigma=2,norm=true]": 0.0}, trials=1, folds=(1,))
    assert len(rp.results(store, where=condition, **ASKED)) == count
