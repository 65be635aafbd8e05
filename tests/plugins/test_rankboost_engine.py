"""RankBoost: the weak ranker of each round is the best there is, and its weight the paper's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankplug_classics.stumps import Stumps, Thresholds

import rankplug as rp


@pytest.fixture(scope="module")
def lists():
    noise = np.random.default_rng(0)
    features = noise.normal(size=(200, 3)).astype(np.float32).round(1)
    labels = np.digitize(features[:, 0] - features[:, 1] + 0.5 * noise.normal(size=200), [0.5, 1.5])
    return rp.Lists(features, labels.astype(np.float32), np.arange(0, 201, 10))


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 30), st.integers(1, 4))
def test_the_best_weak_ranker_is_that_of_trying_all(seed, documents, features):
    noise = np.random.default_rng(seed)
    X = noise.integers(0, 5, (documents, features)).astype(np.float32)
    pulls = noise.normal(size=documents)
    feature, threshold, total = Thresholds(X, 255).best(pulls)
    sums = [abs(pulls[X[:, j] > value].sum()) for j in range(features) for value in np.unique(X[:, j])[:-1]]
    assert abs(total) == pytest.approx(max(sums, default=0.0))
    if sums:
        assert total == pytest.approx(pulls[X[:, feature] > threshold].sum())


def test_a_round_has_the_weight_of_the_paper(lists):
    model = rp.fit("rankboost", scorer="stumps[rounds=1]", loss="rankboost", train=lists)
    ((feature, threshold, weight),) = model.stumps.rankers
    above, r, counted = lists.features[:, feature] > np.float32(threshold), 0.0, 0
    for begin in range(0, 200, 10):
        labels, h = lists.labels[begin : begin + 10], above[begin : begin + 10].astype(float)
        pairs = [(i, j) for i in range(10) for j in range(10) if labels[i] > labels[j]]
        counted += bool(pairs)
        r += sum(h[i] - h[j] for i, j in pairs) / max(len(pairs), 1)
    r /= counted
    assert weight == pytest.approx(0.5 * math.log((1 + r) / (1 - r)))


def test_every_round_lowers_the_loss_by_at_least_what_the_paper_proves(lists):
    model = rp.fit("rankboost", scorer="stumps[rounds=30]", loss="rankboost", train=lists)
    value = []
    for rounds in range(31):
        scores = Stumps(model.stumps.rankers[:rounds]).scores(lists.features)
        value.append(rp.loss("rankboost").evaluate(scores, lists.labels, lists.starts).value.mean())
    r = np.tanh([weight for _, _, weight in model.stumps.rankers])
    assert (np.diff(value) <= 0.5 * np.log(1 - r**2) + 1e-9).all()


def test_scores_in_training_are_those_of_prediction(lists):
    model = rp.fit("rankboost", scorer="stumps[rounds=9,thresholds=4]", loss="rankboost", train=lists, valid=lists)
    own = rp.evaluate(model, lists, "ndcg@5").mean()
    assert own == pytest.approx(model.curve.columns["valid ndcg@5"][model.best_iteration])
    assert model.curve.columns["valid ndcg@5"] == model.curve.columns["train ndcg@5"]
    assert len({(feature, threshold) for feature, threshold, _ in model.stumps.rankers}) <= 12


def test_a_constant_feature_set_leaves_nothing_to_learn():
    lists = rp.Lists(np.ones((4, 2), np.float32), [1, 0, 1, 0], [0, 2, 4])
    model = rp.fit("rankboost", loss="rankboost", train=lists)
    assert model.record.stopped == "exhausted"
    assert model.predict(lists).tolist() == [0, 0, 0, 0]
