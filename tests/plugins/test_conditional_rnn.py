"""urBoost's network: its steps, its training scores against plain loops, and what it reduces to."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from rankplug_uniquerating.conditional_rnn import ConditionalRNN, RatingSteps, SequentialRNN, StepsCriterion

import rankplug as rp
from rankplug.registry import registry
from rankplug.training import Problem

labels_of_lists = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=8), min_size=1, max_size=5)


def network(kind=ConditionalRNN, **parameters):
    reference = {"name": "conditional_rnn", "parameters": {"layers": (6, 3), **parameters}}
    _, settings = registry().resolve("scorer", rp.Reference(**reference))
    torch.manual_seed(0)
    return kind(settings, 4).double()


@given(labels_of_lists)
def test_the_steps_are_those_of_the_definition(ratings):
    starts = np.concatenate(([0], np.cumsum([len(rating) for rating in ratings])))
    steps = RatingSteps(np.concatenate(ratings).astype(float), starts)
    expected, weights = [], []
    for query, one in enumerate(ratings):
        unique = sorted(set(one), reverse=True)
        for number, rating in enumerate(unique[:-1], start=1):
            weights.append(1 / (len(unique) - 1))
            for document, label in enumerate(one):
                if label <= rating:
                    here = label if label == rating else 0
                    expected.append((number, int(starts[query]) + document, here, label == rating))
    assert [*zip(steps.step, steps.document, steps.labels, steps.chosen, strict=True)] == expected
    assert steps.weights.tolist() == weights
    assert steps.starts[-1] == len(expected)
    assert steps.starts.size == len(weights) + 1


@pytest.mark.parametrize("pooling", ["max", "mean"])
@pytest.mark.parametrize("rnn", ["concat", "state"])
def test_training_scores_are_those_of_equation_7(rnn, pooling):
    noise = np.random.default_rng(0)
    labels, starts = np.array([1, 2, 2, 0, 0, 0, 3, 1, 0.0]), np.array([0, 4, 6, 9])
    features = torch.as_tensor(noise.normal(size=(9, 4)))
    model = network(rnn=rnn, pooling=pooling)
    found = model.step_scores(features, RatingSteps(labels, starts))
    embedded = model.embedding(features)
    W, U, b, w = model.from_state.weight, model.from_document.weight, model.from_document.bias, model.score.weight[0]
    expected = []
    for begin, end in itertools.pairwise(starts):
        state = torch.zeros(3, dtype=torch.float64)
        for rating in sorted(set(labels[begin:end]), reverse=True)[:-1]:
            chosen = []
            for document in range(begin, end):
                if labels[document] <= rating:
                    hidden = torch.tanh(W @ state + U @ embedded[document] + b)
                    seen = torch.cat([hidden, embedded[document]]) if rnn == "concat" else hidden
                    expected.append(w @ seen)
                    if labels[document] == rating:
                        chosen.append(hidden)
            state = torch.stack(chosen).amax(0) if pooling == "max" else torch.stack(chosen).mean(0)
    torch.testing.assert_close(found, torch.stack(expected))


@pytest.mark.parametrize("rnn", ["concat", "state", "gru", "lstm"])
def test_sequential_prediction_is_that_of_a_loop_over_places(rnn):
    starts = np.array([0, 5, 6, 9])
    features = torch.as_tensor(np.random.default_rng(1).normal(size=(9, 4)))
    model = network(SequentialRNN, rnn=rnn)
    found = model(features, starts)
    embedded = model.embedding(features)
    for begin, end in itertools.pairwise(starts):
        state, memory = (torch.zeros(1, 3, dtype=torch.float64) for _ in range(2))
        left, position = list(range(begin, end)), 0
        while left:
            outcomes = []
            for document in left:
                own = embedded[[document]]
                if model.cell is None:
                    hidden, kept = torch.tanh(state @ model.from_state.weight.T + model.from_document(own)), memory
                else:
                    hidden, kept = (
                        (model.cell(own, state), memory) if rnn == "gru" else model.cell(own, (state, memory))
                    )
                seen = hidden if rnn == "state" else torch.cat([hidden, own], 1)
                outcomes.append((float((seen @ model.score.weight[0]).detach()), hidden, kept))
            best = max(range(len(left)), key=lambda one: outcomes[one][0])
            _, state, memory = outcomes[best]
            assert found[left.pop(best)] == -position
            position += 1


@pytest.mark.parametrize("batch", [1, 8])
def test_lists_of_equal_labels_and_of_one_document_are_passed_over(batch):
    noise = np.random.default_rng(0)
    features = noise.normal(size=(12, 4)).astype(np.float32)
    lists = rp.Lists(features, [1, 1, 0, 2, 0, 1, 0, 0, 0, 2, 1, 0], [0, 2, 3, 6, 9, 12])
    model = rp.fit(f"torch[epochs=2,batch={batch}]", scorer="urboost", loss="cross_entropy", train=lists)
    assert np.isfinite(model.predict(lists)).all()


def test_urboost_learns_and_is_saved(tmp_path):
    noise = np.random.default_rng(0)
    features = noise.normal(size=(400, 4)).astype(np.float32)
    labels = np.digitize(features[:, 0] - features[:, 1], [0.5, 1.5]).astype(np.float32)
    lists = rp.Lists(features, labels, np.arange(0, 401, 10))
    model = rp.fit("torch[epochs=8,batch=8,lr=0.01]", scorer="urboost", loss="cross_entropy", train=lists, valid=lists)
    assert rp.evaluate(model, lists, "ndcg@5").mean() > 0.95
    loaded = rp.load_model(model.save(tmp_path / "urboost.safetensors"))
    np.testing.assert_array_equal(loaded.predict(lists), model.predict(lists))


def test_without_recurrence_the_loss_of_the_steps_is_urank_of_the_embedding_alone():
    noise = np.random.default_rng(0)
    features = noise.normal(size=(20, 4)).astype(np.float32)
    lists = rp.Lists(features, noise.integers(0, 4, 20), [0, 7, 12, 20])
    problem = Problem.of("torch", scorer="conditional_rnn", loss="urank", train=lists)
    linear = noise.normal(size=20)
    criterion = StepsCriterion(problem)
    chosen = np.array([2, 0])
    rows = lists.rows(chosen)
    steps = RatingSteps(lists.labels[rows], np.array([0, 8, 15]))
    found = criterion.loss(linear[rows][steps.document], chosen, 0).value
    expected = rp.loss("urank").evaluate(linear, lists.labels, lists.starts).value
    of_list = np.repeat(
        chosen, [np.unique(lists.labels[lists.starts[q] : lists.starts[q + 1]]).size - 1 for q in chosen]
    )
    for query in chosen:
        assert found[of_list == query].sum() == pytest.approx(expected[query])
