"""LightGBM as a backend and our losses in LightGBM's own training."""

from __future__ import annotations

import pickle

import lightgbm as lgb
import numpy as np
import pytest
from rankplug_lightgbm import backend

import rankplug as rp

PLAIN = {"num_leaves": 7, "min_data_in_leaf": 5, "verbosity": -1, "deterministic": True, "force_row_wise": True}


@pytest.fixture(scope="module")
def lists():
    noise = np.random.default_rng(0)
    features = noise.normal(size=(400, 4)).astype(np.float32)
    labels = np.digitize(features[:, 0] + noise.normal(size=400), [0.5, 1.5]).astype(np.float32)
    return rp.Lists(features, labels, np.arange(0, 401, 10))


@pytest.fixture(scope="module")
def ours(lists):
    return rp.fit(
        "lightgbm",
        scorer="trees[leaves=7,min_data=5,rounds=10,learning_rate=0.1,l2=0]",
        loss="cross_entropy",
        train=lists,
    )


def test_one_document_a_leaf_gives_minus_gradient_over_curvature():
    lists = rp.Lists(np.arange(4, dtype=np.float32)[:, None], [3, 0, 1, 2], [0, 4])
    scorer = "trees[leaves=4,min_data=1,min_hessian=0,rounds=1,learning_rate=1,l2=0]"
    model = rp.fit("lightgbm", scorer=scorer, loss="cross_entropy", train=lists)
    share, uniform = np.array([3, 0, 1, 2]) / 6, 1 / 4
    np.testing.assert_allclose(model.predict(lists), -(uniform - share) / (uniform * (1 - uniform)), rtol=1e-5)


def test_kept_bins_change_no_tree(lists):
    def train(loss, train=lists, scorer="trees[leaves=7,min_data=5,rounds=5]"):
        return rp.fit("lightgbm", scorer=scorer, loss=loss, train=train, valid=lists, seed=3).text

    backend._last_binned.clear()
    alone = train("xe_ndcg")
    backend._last_binned.clear()
    assert train("cross_entropy") != alone == train("xe_ndcg")
    (before,) = backend._last_binned
    assert train("xe_ndcg", scorer="trees[leaves=7,min_data=5,rounds=5,max_bin=15]") != alone
    changed = rp.Lists(lists.features.copy(), lists.labels, lists.starts)
    assert train("xe_ndcg", changed) == alone
    changed.features[:] = changed.features[:, ::-1].copy()
    assert train("xe_ndcg", changed) != alone and backend._last_binned != [before]


def test_the_objective_in_lgb_train_gives_the_same_trees_as_the_backend(lists, ours):
    data = lgb.Dataset(lists.features, lists.labels, group=lists.lengths)
    booster = lgb.train(PLAIN | {"objective": rp.lightgbm_objective("cross_entropy")}, data, num_boost_round=10)
    np.testing.assert_array_equal(booster.predict(lists.features), ours.predict(lists))


def test_the_objective_in_lgbmranker_gives_the_same_trees_as_the_backend(lists, ours):
    ranker = lgb.LGBMRanker(
        objective=rp.lightgbm_objective("cross_entropy"),
        n_estimators=10,
        min_child_samples=5,
        **{key: value for key, value in PLAIN.items() if key != "min_data_in_leaf"},
    )
    ranker.fit(lists.features, lists.labels, group=lists.lengths)
    np.testing.assert_array_equal(ranker.predict(lists.features), ours.predict(lists))


def test_the_objective_honours_weights(lists):
    weights = np.repeat(np.where(np.arange(40) < 20, 1.0, 0.0), 10)
    objective = rp.lightgbm_objective("cross_entropy")
    scores = np.linspace(-1, 1, 400)
    gradient, curvature = objective(lists.labels, scores, weights, lists.lengths)
    alone, _ = objective(lists.labels[:200], scores[:200], None, lists.lengths[:20])
    np.testing.assert_array_equal(gradient[:200], alone)
    assert not gradient[200:].any()
    assert (curvature > 0)[:200].all()


def test_the_objective_draws_noise_anew_in_each_iteration_and_the_same_in_each_training(lists):
    objective = rp.lightgbm_objective("cross_entropy", sampler="gumbel[samples=1]", seed=4)
    zeros, later = np.zeros(400), np.full(400, 0.1)
    first = objective(lists.labels, zeros, None, lists.lengths)[0]
    second = objective(lists.labels, later, None, lists.lengths)[0]
    again = objective(lists.labels, zeros, None, lists.lengths)[0]
    assert np.abs(first - second).max() > 1e-3
    np.testing.assert_array_equal(first, again)


def test_the_objective_is_pickled_by_the_names_of_its_parts(lists):
    objective = rp.lightgbm_objective("cross_entropy", sampler="gumbel[samples=2]", seed=1)
    objective(lists.labels, np.zeros(400), None, lists.lengths)
    sent = pickle.dumps(objective)
    assert len(sent) < 1000
    received = pickle.loads(sent)
    np.testing.assert_array_equal(
        received(lists.labels, np.zeros(400), None, lists.lengths)[0],
        objective(lists.labels, np.zeros(400), None, lists.lengths)[0],
    )


def test_the_number_of_threads_changes_nothing(lists, monkeypatch):
    monkeypatch.setattr("rankplug.system.thread_limits.MILLISECONDS_A_THREAD", 1e-6)
    scorer = "trees[leaves=15,min_data=2,rounds=20,bagging=0.8,feature_fraction=0.7]"
    predictions = []
    for number in (1, 2):
        with rp.use_threads(number):
            predictions.append(rp.fit("lightgbm", scorer=scorer, loss="cross_entropy", train=lists).predict(lists))
    np.testing.assert_array_equal(*predictions)


class TestAgainstItsOwnObjectives:
    TREES = "trees[leaves=15,min_data=5,rounds=50]"

    def fitted(self, backend, loss, lists, seed=0, **settings):
        return rp.fit(backend, scorer=self.TREES, loss=loss, train=lists, seed=seed, **settings)

    @pytest.mark.parametrize("given", ["", "sigma=2,", "norm=true,truncation=30,"])
    def test_lambdarank_with_lightgbms_arithmetic_gives_the_same_trees(self, given, lists):
        native = self.fitted("lightgbm[native=true]", f"lambdarank[{given}]", lists)
        ours = self.fitted("lightgbm", f"lambdarank[{given}arithmetic=lightgbm]", lists)
        np.testing.assert_array_equal(ours.predict(lists), native.predict(lists))

    def test_xe_ndcg_with_lightgbms_draws_gives_nearly_the_same_first_tree(self, lists):
        trees = "trees[leaves=15,min_data=5,min_hessian=0,rounds=1]"
        native, ours = (
            rp.fit(backend, scorer=trees, loss="xe_ndcg[gamma_rng=lightgbm]", train=lists).predict(lists)
            for backend in ("lightgbm[native=true]", "lightgbm")
        )
        np.testing.assert_allclose(ours, native, rtol=1e-4, atol=1e-6)
