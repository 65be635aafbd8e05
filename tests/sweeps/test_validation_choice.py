"""Validation data alone choose among a grid's combinations."""

from __future__ import annotations

import pandas as pd

from rankplug.sweeps import chosen_on_validation


def rows(combination, fold, trial, valid, test, selection="ndcg@5", metric="ndcg@5"):
    about = {"combination": combination, "fold": fold, "trial": trial, "selection": selection}
    curve = [
        {**about, "measure": "curve", "part": "valid", "metric": metric, "iteration": i, "value": value}
        for i, value in enumerate(valid)
    ]
    return [*curve, {**about, "measure": "query", "part": "test", "metric": "ndcg@5", "iteration": 0, "value": test}]


def test_the_best_validation_value_chooses_and_the_test_value_does_not():
    frame = pd.DataFrame(rows("a", 1, 0, [0.1, 0.6, 0.2], 0.1) + rows("b", 1, 0, [0.5, 0.5, 0.5], 0.9))
    assert set(chosen_on_validation(frame)["combination"]) == {"a"}


def test_trials_are_averaged_before_choosing():
    frame = pd.DataFrame(
        rows("a", 1, 0, [0.9], 0) + rows("a", 1, 1, [0.1], 0) + rows("b", 1, 0, [0.6], 0) + rows("b", 1, 1, [0.6], 0)
    )
    assert set(chosen_on_validation(frame)["combination"]) == {"b"}


def test_each_fold_chooses_for_itself():
    frame = pd.DataFrame(
        rows("a", 1, 0, [0.9], 0) + rows("b", 1, 0, [0.1], 0) + rows("a", 2, 0, [0.1], 0) + rows("b", 2, 0, [0.9], 0)
    )
    chosen = chosen_on_validation(frame)
    assert set(zip(chosen["fold"], chosen["combination"], strict=True)) == {(1, "a"), (2, "b")}


def test_a_selecting_loss_is_the_better_the_lower():
    given = {"selection": "loss", "metric": "loss"}
    frame = pd.DataFrame(rows("a", 1, 0, [3.0, 2.0], 0, **given) + rows("b", 1, 0, [3.0, 2.5], 0, **given))
    assert set(chosen_on_validation(frame)["combination"]) == {"a"}


def test_the_first_of_several_selecting_metrics_counts():
    frame = pd.DataFrame(
        rows("a", 1, 0, [0.9], 0, selection="ndcg@5 | ndcg@1") + rows("b", 1, 0, [0.8], 0, selection="ndcg@5 | ndcg@1")
    )
    assert set(chosen_on_validation(frame)["combination"]) == {"a"}


def test_a_single_combination_is_left_alone():
    frame = pd.DataFrame(rows("a", 1, 0, [0.9], 0))
    assert chosen_on_validation(frame).equals(frame)
