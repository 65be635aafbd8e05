"""PyTorch as a backend: packed steps are the true gradient steps, and every option does what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import rankplug as rp
from rankplug.data import Scaling


@pytest.fixture(scope="module")
def lists():
    noise = np.random.default_rng(0)
    lengths = noise.integers(1, 12, 30)
    features = noise.normal(size=(int(lengths.sum()), 4)).astype(np.float32)
    labels = np.digitize(features[:, 0] + noise.normal(size=len(features)), [0.5, 1.5]).astype(np.float32)
    return rp.Lists(features, labels, np.concatenate(([0], np.cumsum(lengths))))


def fitted(lists, backend="torch[epochs=3,batch=5]", scorer="mlp[layers=(8,)]", **settings):
    return rp.fit(backend, scorer=scorer, loss="cross_entropy", train=lists, **settings)


def cross_entropy(scores, lists):
    """Return the sum over lists, written with PyTorch on one list after another."""
    total = torch.zeros((), dtype=scores.dtype)
    for begin, end in zip(lists.starts[:-1], lists.starts[1:], strict=True):
        labels = torch.as_tensor(lists.labels[begin:end], dtype=scores.dtype)
        if labels.sum() > 0:
            total = total - (labels / labels.sum() * torch.log_softmax(scores[begin:end], 0)).sum()
    return total


@pytest.mark.parametrize(("reduction", "factor"), [("sum", 1.0), ("mean", 1 / 30)])
def test_one_step_of_sgd_is_minus_the_learning_rate_times_autograds_gradient(reduction, factor, lists):
    backend = f"torch[scaling=none,optimiser=sgd,lr=0.1,epochs=1,batch=30,reduction={reduction}]"
    model = fitted(lists, backend, "linear")
    weights = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    cross_entropy(torch.as_tensor(lists.features).double() @ weights, lists).backward()
    np.testing.assert_allclose(model.network[0].weight.detach()[0], -0.1 * factor * weights.grad, rtol=1e-5)


def test_adagrad_starts_from_tensorflows_accumulator(lists):
    model = fitted(lists, "torch[scaling=none,optimiser=adagrad,lr=0.1,epochs=1,batch=30,reduction=sum]", "linear")
    weights = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    cross_entropy(torch.as_tensor(lists.features).double() @ weights, lists).backward()
    expected = -0.1 * weights.grad / torch.sqrt(0.1 + weights.grad**2)
    np.testing.assert_allclose(model.network[0].weight.detach()[0], expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ["standard", "log"])
def test_the_scaling_is_part_of_the_model(kind, lists, tmp_path):
    heavy = replace(lists, features=np.sinh(3 * lists.features).astype(np.float32))
    scaling = Scaling.of(kind, heavy.features)
    model = fitted(heavy, f"torch[epochs=3,batch=5,scaling={kind}]")
    by_hand = fitted(replace(heavy, features=scaling(heavy.features)), "torch[epochs=3,batch=5,scaling=none]")
    with torch.no_grad():
        scores = by_hand.network(torch.from_numpy(scaling(heavy.features)))
    np.testing.assert_allclose(model.predict(heavy), scores, rtol=1e-3, atol=1e-4)
    model.save(tmp_path / "model.safetensors")
    read = rp.load_model(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(read.predict(heavy), model.predict(heavy))
    assert read.scaling.kind == kind


def test_every_epoch_shows_every_list_once_in_another_order(lists, monkeypatch):
    from rankplug_torch.learner import NetworkLearner

    shown = {0: [], 1: []}
    monkeypatch.setattr(NetworkLearner, "step", lambda self, lists, epoch: shown[epoch].extend(lists.tolist()) or 0.0)
    fitted(lists, "torch[batch=7,epochs=2]")
    assert sorted(shown[0]) == sorted(shown[1]) == list(range(30))
    assert shown[0] != shown[1]


def test_a_seed_repeats_bit_for_bit_and_another_differs(lists):
    scorer = "mlp[layers=(8,8),dropout=0.5,batch_norm=true]"
    first, again, other = (fitted(lists, scorer=scorer, seed=seed).predict(lists) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3


def test_two_losses_begin_with_the_same_weights(lists):
    starts = []
    for loss in ("cross_entropy", "ranknet"):
        model = rp.fit("torch[optimiser=sgd,lr=1e-30,epochs=1]", scorer="mlp", loss=loss, train=lists)
        starts.append(model.predict(lists))
    np.testing.assert_array_equal(*starts)


def test_training_leaves_pytorchs_own_random_numbers_alone(lists):
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    fitted(lists, scorer="mlp[dropout=0.5]")
    torch.testing.assert_close(torch.rand(3), expected)


def test_lists_of_one_document_pass_batch_normalisation(lists):
    assert lists.lengths.min() == 1
    assert np.isfinite(fitted(lists, "torch[epochs=1,batch=1]", "mlp[batch_norm=true]").predict(lists)).all()


@pytest.mark.parametrize("scorer", ["mlp[layers=(8,)]", "linear", "attention[width=4]", "conditional_rnn[layers=(8,)]"])
def test_scores_are_float32_where_matrix_products_are_in_bfloat16(scorer, lists):
    from rankplug_torch.scoring import batch_scores, network_scores

    model = fitted(lists, scorer=scorer)
    with torch.autocast("cpu", torch.bfloat16):
        scores = batch_scores(model.network, torch.from_numpy(lists.features), lists.starts)
    assert scores.dtype == torch.float32
    in_half = network_scores(model.network, model.scale, lists.features, lists.starts, autocast=True)
    assert len(np.unique(in_half)) > 0.9 * lists.documents
    np.testing.assert_allclose(in_half, model.predict(lists), atol=0.1)


@pytest.mark.parametrize(("autocast", "equal"), [("true", False), ("false", True)])
def test_validation_is_in_bfloat16_where_training_is_and_prediction_is_not(autocast, equal, lists):
    model = fitted(lists, f"torch[epochs=2,batch=10,lr=0.01,autocast={autocast}]", valid=lists, selection="loss")
    watched = model.record.curve.columns["valid loss"][model.record.best_iteration]
    predicted = float(cross_entropy(torch.as_tensor(model.predict(lists)).double(), lists)) / len(lists)
    assert watched == pytest.approx(predicted, rel=0.01)
    assert (watched == pytest.approx(predicted, rel=1e-6)) == equal


def test_attention_sees_the_documents_of_a_list_and_no_others(lists):
    model = fitted(lists, scorer="attention[width=8,heads=2]")
    scores = model.predict(lists)
    changed = lists.features.copy()
    changed[lists.starts[5] : lists.starts[6]] += 1
    other = model.predict(rp.Lists(changed, lists.labels, lists.starts))
    inside = np.zeros(lists.documents, bool)
    inside[lists.starts[5] : lists.starts[6]] = True
    np.testing.assert_allclose(other[~inside], scores[~inside], rtol=1e-5)
    longest = int(np.argmax(lists.lengths))
    begin, end = lists.starts[longest], lists.starts[longest + 1]
    changed = lists.features.copy()
    changed[begin] += 1
    other = model.predict(rp.Lists(changed, lists.labels, lists.starts))
    assert np.abs(other[begin + 1 : end] - scores[begin + 1 : end]).max() > 1e-6


def test_attention_does_not_depend_on_the_order_of_documents(lists):
    model = fitted(lists, scorer="attention[width=8]")
    query = int(np.argmax(lists.lengths))
    order = np.random.default_rng(0).permutation(int(lists.lengths[query]))
    alone = lists[query]
    mixed = rp.Lists(alone.features[order], alone.labels[order], alone.starts)
    np.testing.assert_allclose(model.predict(mixed), model.predict(alone)[order], rtol=1e-4, atol=1e-6)


def test_predictions_in_blocks_equal_predictions_at_once(lists, monkeypatch):
    from rankplug_torch import scoring

    models = [fitted(lists), fitted(lists, scorer="attention[width=4]")]
    at_once = [model.predict(lists) for model in models]
    monkeypatch.setattr(scoring, "DOCUMENTS_AT_ONCE", 13)
    for model, expected in zip(models, at_once, strict=True):
        np.testing.assert_allclose(model.predict(lists), expected, rtol=1e-5, atol=1e-6)


def test_weights_of_lists_scale_their_pull(lists):
    weights = np.where(np.arange(30) < 10, 1.0, 0.0)
    backend = "torch[scaling=none,optimiser=sgd,lr=0.1,epochs=1,batch=30,reduction=sum]"
    weighed = fitted(lists, backend, "linear", weights=weights)
    alone = fitted(lists[:10], backend, "linear")
    np.testing.assert_allclose(weighed.predict(lists), alone.predict(lists), rtol=1e-5, atol=1e-7)


class TestBoosted:
    BACKEND = "torch[epochs=6,batch=5,lr=0.02]"
    SCORER = "boosted[scorer=mlp[layers=(8,)],learners=3]"

    def test_each_further_network_learns_the_residuals_of_the_sum(self, lists):
        backend = "torch[epochs=300,batch=30,lr=0.02,l2=0,schedule=constant]"
        first, second = (
            fitted(lists, backend, f"boosted[first=linear[],scorer=mlp[layers=(64,)],learners={number}]").predict(lists)
            for number in (1, 2)
        )
        residuals = -rp.loss("cross_entropy").evaluate(first, lists.labels, lists.starts).gradient
        assert ((second - first - residuals) ** 2).mean() < 0.5 * (residuals**2).mean()

    def test_a_saved_sum_has_the_networks_it_was_kept_with(self, lists, tmp_path):
        model = fitted(lists, self.BACKEND, self.SCORER)
        assert len(model.network.networks) == 3
        loaded = rp.load_model(model.save(tmp_path / "sum"))
        np.testing.assert_array_equal(loaded.predict(lists), model.predict(lists))
