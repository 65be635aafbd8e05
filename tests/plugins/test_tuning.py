"""A search chooses by validation data among what was asked, and no fold is measured on what its test queries chose."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from rankplug_tuning.search import SearchSpace, Tuning

import rankplug as rp
from rankplug.errors import FitError

DATA = "synthetic[queries=40,documents=8]"
SMALL = {"loss": "mse", "backend": "lightgbm", "scorer": "trees[leaves=[2,4],rounds=[1,3],min_data=1]"}


def test_the_space_of_a_grid_is_the_product_of_its_values():
    space = SearchSpace({**SMALL, "dataset": DATA, "loss": ["mse", "xe_ndcg"]})
    drawn = {(one.loss, one.scorer) for one in space.draw(100, seed=0)}
    expected = itertools.product(["mse", "xe_ndcg"], [2, 4], [1, 3])
    assert drawn == {(loss, f"trees[leaves={leaves},rounds={rounds},min_data=1]") for loss, leaves, rounds in expected}
    assert space.size == 8 and space.usual is None


def test_a_backend_without_a_grid_suggests_one_and_its_usual_parameters_are_looked_at_too():
    space = SearchSpace({"loss": "mse", "backend": "lightgbm", "scorer": "trees[leaves=7]", "dataset": DATA})
    assert space.usual is not None and space.usual.scorer == "trees[leaves=7]"
    assert "scorer leaves" not in map(str, space.axes) and "scorer learning_rate" in map(str, space.axes)
    assert {"leaves=7" in one.scorer for one in space.draw(20, seed=0)} == {True}


def test_a_smaller_budget_draws_the_first_of_a_larger_one():
    space = SearchSpace({"loss": "mse", "backend": "xgboost", "dataset": DATA})
    assert space.draw(5, seed=3) == space.draw(20, seed=3)[:5] != space.draw(5, seed=4)


@pytest.mark.parametrize("search", ["random", "optuna"])
def test_validation_chooses_and_nothing_is_trained_twice(search, tmp_path):
    settings = {"data": DATA, "budget": 4, "store": tmp_path, "search": search, "progress": False, "metrics": "ndcg@10"}
    found = rp.tune(SMALL, selection="ndcg@10", **settings)
    split = rp.load(DATA, seed=_seed(found))
    by_hand = {}
    for candidate in found.candidates:
        model = rp.fit(
            candidate.backend, scorer=candidate.scorer, loss=candidate.loss, train=split.train, valid=split.valid,
            selection="ndcg@10", seed=_seed(found), progress=False,
        )  # fmt: skip
        quality = rp.evaluate(model, split.valid, "ndcg@10").mean(), rp.evaluate(model, split.test, "ndcg@10").mean()
        by_hand[candidate.identity] = quality
    best = max(by_hand, key=lambda name: by_hand[name][0])
    assert by_hand[found.chosen.identity][0] == pytest.approx(by_hand[best][0])
    assert found.test_means()["ndcg@10"] == pytest.approx(by_hand[found.chosen.identity][1])
    again = rp.tune(SMALL, selection="ndcg@10", **settings)
    assert not any(outcome.plan.waiting for outcome in again.outcomes)
    assert again.chosen == found.chosen and again.line in str(again)


def _seed(found):
    return found.outcomes[0].plan.trials[0].seed


def test_each_fold_is_measured_on_what_its_own_validation_part_chose():
    """Another fold's validation queries may be this one's test queries."""
    candidates = tuple(SearchSpace({**SMALL, "dataset": DATA}).draw(2, seed=0))
    one, other = (candidate.identity for candidate in candidates)
    valid = {(one, 1): 0.9, (one, 2): 0.1, (other, 1): 0.5, (other, 2): 0.8}
    test = {(one, 1): 0.3, (one, 2): 0.7, (other, 1): 0.6, (other, 2): 0.4}
    rows = [
        {"combination": name, "fold": fold, "trial": 0, "measure": measure, "part": part, "metric": metric,
         "value": values[name, fold], "selection": "ndcg@5"}
        for measure, part, metric, values in (("curve", "valid", "ndcg@5", valid), ("query", "", "ndcg@1", test))
        for name, fold in values
    ]  # fmt: skip
    found = Tuning((SimpleNamespace(frame=lambda: pd.DataFrame(rows)),), candidates, None, 2, 2)
    assert found.test_means() == {"ndcg@1": pytest.approx((0.3 + 0.4) / 2)}
    assert found.chosen.identity == other
    assert found.test_means(candidates[0]) == {"ndcg@1": pytest.approx((0.3 + 0.7) / 2)}


def test_what_is_chosen_can_be_fitted(tmp_path):
    found = rp.tune(SMALL, data=DATA, budget=2, store=tmp_path, patience=5, progress=False)
    train, valid, test = rp.load(DATA)
    model = rp.fit(**found.model, train=train, valid=valid, progress=False)
    assert np.isfinite(model.predict(test)).all() and found.model["patience"] == 5
    assert len(found.table()) == 2 and found.table()["valid"].is_monotonic_decreasing


def test_a_search_of_which_every_candidate_fails_says_so(tmp_path):
    bad = {**SMALL, "scorer": "trees[min_data=[1000,2000],leaves=3]"}
    with pytest.raises(FitError, match=r"no candidate has a value on validation data on every fold: .*FitError"):
        rp.tune(bad, data=DATA, store=tmp_path, progress=False).chosen  # noqa: B018
