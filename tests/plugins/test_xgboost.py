"""XGBoost as a backend and our losses in XGBoost's own training."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

import rankplug as rp

SCORER = "trees[leaves=8,min_hessian=0.01,rounds=10,learning_rate=0.1,l2=0]"
PLAIN = {
    "tree_method": "hist",
    "grow_policy": "lossguide",
    "max_leaves": 8,
    "max_depth": 0,
    "eta": 0.1,
    "min_child_weight": 0.01,
    "reg_lambda": 0,
    "max_bin": 255,
    "base_score": 0,
    "disable_default_eval_metric": True,
}


@pytest.fixture(scope="module")
def lists():
    noise = np.random.default_rng(0)
    features = noise.normal(size=(400, 4)).astype(np.float32)
    labels = np.digitize(features[:, 0] + noise.normal(size=400), [0.5, 1.5]).astype(np.float32)
    return rp.Lists(features, labels, np.arange(0, 401, 10))


def test_one_document_a_leaf_gives_minus_gradient_over_curvature():
    lists = rp.Lists(np.arange(4, dtype=np.float32)[:, None], [3, 0, 1, 2], [0, 4])
    scorer = "trees[leaves=4,min_hessian=0,rounds=1,learning_rate=1,l2=0]"
    model = rp.fit("xgboost", scorer=scorer, loss="cross_entropy", train=lists)
    share, uniform = np.array([3, 0, 1, 2]) / 6, 1 / 4
    np.testing.assert_allclose(model.predict(lists), -(uniform - share) / (uniform * (1 - uniform)), rtol=1e-5)


def test_the_objective_in_xgb_train_gives_the_same_trees_as_the_backend(lists):
    data = xgb.QuantileDMatrix(lists.features, lists.labels, group=lists.lengths, max_bin=255)
    booster = xgb.train(PLAIN, data, 10, obj=rp.xgboost_objective("cross_entropy", data))
    ours = rp.fit("xgboost", scorer=SCORER, loss="cross_entropy", train=lists)
    np.testing.assert_array_equal(booster.inplace_predict(lists.features), ours.predict(lists))


def test_the_objective_honours_one_weight_a_group(lists):
    weight = np.where(np.arange(40) < 20, 1.0, 0.0)
    data = xgb.DMatrix(lists.features, lists.labels, group=lists.lengths, weight=weight)
    gradient, _ = rp.xgboost_objective("cross_entropy", data)(np.linspace(-1, 1, 400), data)
    assert np.abs(gradient[:200]).max() > 0
    assert not gradient[200:].any()


@pytest.mark.parametrize("scorer", [SCORER, "trees[leaves=8,rounds=10,bagging=0.7,feature_fraction=0.5]", "linear"])
def test_the_number_of_threads_changes_nothing(scorer, lists, monkeypatch):
    monkeypatch.setattr("rankplug.system.thread_limits.MILLISECONDS_A_THREAD", 1e-6)
    predictions = []
    for number in (1, 2):
        with rp.use_threads(number):
            predictions.append(rp.fit("xgboost", scorer=scorer, loss="cross_entropy", train=lists).predict(lists))
    np.testing.assert_array_equal(*predictions)


class TestAgainstItsOwnObjectives:
    @pytest.mark.parametrize("loss", ["ranknet", "lambdarank", "lambdarank[norm=true]"])
    def test_one_tree_of_ours_steps_twice_as_far_as_its_own_which_doubles_curvature(self, loss):
        lists = rp.Lists(np.arange(8, dtype=np.float32)[:, None], [3, 0, 1, 2, 0, 0, 1, 2], [0, 4, 8])
        scorer = "trees[leaves=8,min_hessian=0,rounds=1,learning_rate=1,l2=0]"
        native, ours = (
            rp.fit(backend, scorer=scorer, loss=loss, train=lists).predict(lists)
            for backend in ("xgboost[native=true]", "xgboost")
        )
        np.testing.assert_allclose(ours, 2 * native, rtol=1e-5)

    def test_weights_of_documents_that_agree_in_each_list_count_as_the_lists(self, lists):
        of_lists = np.where(np.arange(40) < 20, 1.0, 0.0)
        one, other = (
            rp.fit("xgboost[native=true]", scorer=SCORER, loss="lambdarank", train=lists, weights=weights)
            for weights in (of_lists, np.repeat(of_lists, 10))
        )
        np.testing.assert_array_equal(one.predict(lists), other.predict(lists))
