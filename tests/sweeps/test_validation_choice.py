"""Validation data alone choose among a grid's combinations."""

from __future__ import annotations

import pandas as pd
import pytest

from rankplug.store import Store
from rankplug.studies import Runs, Study
from rankplug.studies.runs import StoredFrames
from rankplug.sweeps import Sweep, chosen_on_validation, plan_sweeps, run

QUIET = {"progress": False}


def rows(combination, fold, trial, valid, test, selection="ndcg@5", metric="ndcg@5"):
    about = {"combination": combination, "fold": fold, "trial": trial, "selection": selection}
    curve = [
        {**about, "measure": "curve", "part": "valid", "metric": metric, "iteration": i, "value": value}
        for i, value in enumerate(valid)
    ]
    return [*curve, {**about, "measure": "query", "part": "test", "metric": "ndcg@5", "iteration": 0, "value": test}]


@pytest.mark.parametrize(
    ("one", "other", "about"),
    [
        pytest.param([([0.1, 0.6, 0.2], 0.1)], [([0.5, 0.5, 0.5], 0.9)], {}, id="not the test value"),
        pytest.param([([0.6], 0), ([0.6], 0)], [([0.9], 0), ([0.1], 0)], {}, id="the mean over trials"),
        pytest.param([([3.0, 2.0], 0)], [([3.0, 2.5], 0)], {"selection": "loss", "metric": "loss"}, id="the lower"),
        pytest.param([([0.9], 0)], [([0.8], 0)], {"selection": "ndcg@5 | ndcg@1"}, id="the first metric"),
    ],
)
def test_the_best_validation_value_chooses(one, other, about):
    trials = [(name, *values) for name, runs in (("a", one), ("b", other)) for values in enumerate(runs)]
    frame = pd.DataFrame([row for name, trial, values in trials for row in rows(name, 1, trial, *values, **about)])
    assert set(chosen_on_validation(frame)["combination"]) == {"a"}


def test_each_fold_chooses_for_itself():
    frame = pd.DataFrame(
        rows("a", 1, 0, [0.9], 0) + rows("b", 1, 0, [0.1], 0) + rows("a", 2, 0, [0.1], 0) + rows("b", 2, 0, [0.9], 0)
    )
    chosen = chosen_on_validation(frame)
    assert set(zip(chosen["fold"], chosen["combination"], strict=True)) == {(1, "a"), (2, "b")}


def test_only_the_first_trials_choose_where_that_is_asked_for():
    frame = pd.DataFrame(
        rows("a", 1, 0, [0.9], 0) + rows("a", 1, 1, [0.1], 0) + rows("b", 1, 0, [0.6], 0) + rows("b", 1, 1, [0.9], 0)
    )
    assert set(chosen_on_validation(frame)["combination"]) == {"b"}
    assert set(chosen_on_validation(frame, 1)["combination"]) == {"a"}
    unequal = frame[(frame["combination"] == "a") | (frame["trial"] < 1)]
    assert len(chosen_on_validation(unequal, 1)) == 4


GRID = {
    "dataset": "synthetic[queries=40,documents=10]",
    "backend": "lightgbm",
    "scorer": "trees[rounds=3,leaves=4,learning_rate=[0.01,0.1,1.0]]",
    "loss": "mse",
    "metrics": ["ndcg@5"],
}


def test_the_others_of_what_the_first_trials_choose_are_trained_once_these_are_done(tmp_path):
    """The oracle is the whole grid's trainings: best mean over the first trials on each fold's validation data."""
    whole = run(plan_sweeps([Sweep((GRID,), trials=4)], Store(tmp_path / "whole")), Store(tmp_path / "whole"), **QUIET)
    assert len(whole.plan.waiting) == 12
    curves = {trial: whole.store.read(trial).curve.columns["valid ndcg@5"] for trial in whole.plan.waiting}
    best: dict[str, float] = {}
    for trial, curve in curves.items():
        if trial.number < 2:
            best[trial.combination.identity] = best.get(trial.combination.identity, 0.0) + max(curve) / 2
    expected = max(best, key=best.__getitem__)

    store, asked = Store(tmp_path / "few"), [Sweep((GRID,), trials=4, choosing=2)]
    first = run(plan_sweeps(asked, store), store, **QUIET)
    assert sorted(trial.number for trial in first.plan.waiting) == [0, 0, 0, 1, 1, 1]
    then = run(plan_sweeps(asked, store), store, **QUIET)
    assert {(trial.combination.identity, trial.number) for trial in then.plan.waiting} == {(expected, 2), (expected, 3)}
    assert not plan_sweeps(asked, store).waiting
    chosen = chosen_on_validation(then.frame(), 2)
    assert set(chosen["combination"]) == {expected} and set(chosen["trial"]) == {0, 1, 2, 3}


def test_folds_and_models_choose_for_themselves_and_a_single_combination_has_all_trials(tmp_path):
    store = Store(tmp_path)
    single = {**GRID, "scorer": "trees[rounds=3,leaves=4,learning_rate=0.1]"}
    plan = plan_sweeps([Sweep((single,), trials=3, choosing=1)], store)
    assert len(plan.waiting) == 3
    runs = Runs("both", {"one": {"scorer": single["scorer"]}, "grid": {}}, GRID, trials=3, choosing=1)
    assert len(runs.trials_of("grid")) == 9 and len(runs.trials_of("grid", store)) == 3
    study = Study("made", "Made", "nobody", "made:made.ipynb", lambda profile, data: [runs], (), (), pd.DataFrame)
    results = study.run("smoke", store=store, progress=False)
    assert not study.missing("smoke", store=store)
    frame = results.frames["both"]
    for model in ("one", "grid"):
        assert set(frame.loc[frame["model"] == model, "trial"]) == {0, 1, 2}
    assert frame.loc[frame["model"] == "grid", "combination"].nunique() == 1
    assert len(list(store.files())) == len({trial.identity for trial in StoredFrames({"both": runs}, store).trials})
    # The first trials of three rates, one of which is the single model's, and two more of what they choose.
    assert len(list(store.files())) in (5, 7)
