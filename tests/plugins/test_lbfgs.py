"""L-BFGS and cutting planes reach the minimum of the regularised objective, and validation chooses C."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import rankplug as rp
from rankplug.data import Scaling
from rankplug.system import workers


def made(queries, seed):
    noise = np.random.default_rng(seed)
    features = noise.normal(size=(queries * 8, 3)).astype(np.float32)
    labels = (features[:, 0] + noise.normal(size=len(features)) > 0.7).astype(np.float32)
    return rp.Lists(features, labels, np.arange(0, queries * 8 + 1, 8))


@pytest.fixture(scope="module")
def lists():
    return made(20, seed=0)


def objective(w, loss, lists, C):
    scores = lists.features.astype(np.float64) @ w
    return rp.loss(loss).evaluate(scores, lists.labels, lists.starts).value.sum() + w @ w / C


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("loss", ["cross_entropy", "ranknet"])
def test_lbfgs_finds_the_minimum_that_a_search_without_gradients_finds(loss, C, lists):
    model = rp.fit(f"lbfgs[C={C},tolerance=1e-14,scaling=none]", loss=loss, train=lists)
    searched = minimize(objective, np.zeros(3), (loss, lists, C), method="Nelder-Mead", options={"xatol": 1e-7})
    np.testing.assert_allclose(model.weights, searched.x, atol=1e-3)


@pytest.mark.parametrize("loss", ["svm_map", "ranksvm", "cross_entropy"])
def test_cutting_planes_come_within_their_tolerance_of_the_minimum(loss, lists):
    model = rp.fit("cutting_planes[C=1,tolerance=1e-4,scaling=none]", loss=loss, train=lists)
    reached = objective(model.weights, loss, lists, 1.0)
    searches = [
        minimize(objective, start, (loss, lists, 1.0), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
        for start in (np.zeros(3), model.weights, model.weights + 0.1)
    ]
    lowest = min(search.fun for search in searches)
    assert lowest - 1e-9 <= reached <= lowest * (1 + 1e-4) + 1e-9


@pytest.mark.parametrize(
    ("backend", "loss"),
    [("lbfgs", "xe_ndcg"), ("lbfgs", "approx_ndcg"), pytest.param("cutting_planes", "ranksvm", marks=pytest.mark.slow)],
)
def test_no_number_of_threads_changes_a_bit_of_the_weights(backend, loss, monkeypatch):
    data = made(300, seed=1)
    monkeypatch.setattr(workers, "WORTH_A_THREAD", 0)
    weights = []
    for number in (1, 2, 3):
        with rp.use_threads(number):
            weights.append(rp.fit(f"{backend}[C=100]", loss=loss, train=data, seed=1).weights.tobytes())
    assert weights[0] == weights[1] == weights[2]


def test_validation_chooses_the_penalty(lists):
    valid = made(20, seed=1)
    choices = (0.0001, 1.0, 100.0)
    model = rp.fit(f"lbfgs[C={choices}]", loss="cross_entropy", train=lists, valid=valid, selection=("ndcg@5", "loss"))
    alone = {C: rp.fit(f"lbfgs[C={C}]", loss="cross_entropy", train=lists) for C in choices}
    quality = {C: rp.evaluate(one, valid, "ndcg@5").mean() for C, one in alone.items()}
    assert quality[model.record.chosen["C"]] == pytest.approx(max(quality.values()))
    np.testing.assert_allclose(model.weights, alone[model.record.chosen["C"]].weights, atol=1e-4)


@pytest.mark.parametrize("kind", ["standard", "log"])
def test_a_scaled_model_is_the_plain_one_of_scaled_features_and_keeps_the_scaling(kind, lists, tmp_path):
    heavy = replace(lists, features=np.sinh(3 * lists.features).astype(np.float32))
    scaling = Scaling.of(kind, heavy.features)
    model = rp.fit(f"lbfgs[scaling={kind}]", loss="cross_entropy", train=heavy)
    by_hand = replace(heavy, features=scaling(heavy.features))
    plain = rp.fit("lbfgs[scaling=none]", loss="cross_entropy", train=by_hand)
    np.testing.assert_array_equal(model.predict(heavy), plain.predict(by_hand))
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(rp.load_model(tmp_path / "model.json").predict(heavy), model.predict(heavy))
    # Other documents are scaled by the training documents, not by themselves.
    np.testing.assert_array_equal(model.predict(heavy[:3]), model.predict(heavy)[: heavy.starts[3]])


def test_weights_of_lists_count(lists):
    weights = np.where(np.arange(20) < 10, 1.0, 0.0)
    weighed = rp.fit("lbfgs[scaling=none]", loss="cross_entropy", train=lists, weights=weights)
    alone = rp.fit("lbfgs[scaling=none]", loss="cross_entropy", train=lists[:10])
    np.testing.assert_allclose(weighed.weights, alone.weights, atol=1e-5)
