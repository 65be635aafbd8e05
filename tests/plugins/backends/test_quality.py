"""Every backend with each of its scorers learns: better on held-out lists than chance and than any single feature."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp

COMBINATIONS = [
    ("lightgbm", "trees[leaves=7,rounds=30]"),
    ("lightgbm", "trees[leaves=7,rounds=30,boosting=dart]"),
    ("lightgbm", "ranklib_trees[rounds=30]"),
    ("xgboost", "trees[leaves=7,rounds=30,min_hessian=0.01]"),
    ("xgboost", "linear[rounds=20]"),
    ("torch[epochs=15,batch=16,lr=0.02]", "linear"),
    ("torch[epochs=8,batch=16,lr=0.02,clip=5]", "mlp[layers=(16,8),batch_norm=true,input_batch_norm=true]"),
    ("torch[epochs=8,batch=8,lr=0.005]", "attention[width=16]"),
    ("torch[epochs=8,batch=8,lr=0.01]", "uboost[scorer=mlp[layers=(16,8)],learners=2]"),
    (
        "torch[epochs=8,batch=8,lr=0.01]",
        "urboost[first=conditional_rnn[layers=(16,8)],scorer=mlp[layers=(8,)],learners=2]",
    ),
    ("lbfgs[iterations=30,C=10]", "linear"),
    ("rankboost", "stumps[rounds=60]"),
]
FAMILIES = {
    "pointwise": "mse",
    "pairwise": "ranknet",
    "softmax": "cross_entropy",
    "smooth metric": "approx_ndcg",
    "lambda": "lambdarank",
    "random target": "xe_ndcg",
    "likelihood": "urank",
    "sampled rankings": "logrank_l3",
}
SAMPLED = ["ranknet", "lambdarank", "approx_ndcg"]


def quality(scores, lists):
    return rp.metric("ndcg@5").mean(scores, lists.labels, lists.starts)


@pytest.fixture(scope="module")
def to_beat(test):
    chance = quality(np.random.default_rng(0).normal(size=test.documents), test)
    single = [quality(sign * column, test) for column in test.features.T for sign in (1, -1)]
    return max(chance, *single)


def name_of(combination):
    return "-".join(text.split("[")[0] for text in combination)


def fits_better_than(floor, backend, scorer, loss, sampler, train, valid, test):
    model = rp.fit(backend, scorer=scorer, loss=loss, sampler=sampler, train=train, valid=valid, train_curve=False)
    return quality(model.predict(test), test) > floor + 0.02


def pairs(losses, with_all):
    """Return each combination with each loss; slow is what has neither the first combination nor a loss for all."""
    return [
        pytest.param(combination, loss, id=f"{name_of(combination)}-{loss}", marks=marks)
        for combination in COMBINATIONS
        for loss in losses
        for marks in [() if loss in with_all or combination == COMBINATIONS[0] else pytest.mark.slow]
    ]


@pytest.mark.parametrize(("combination", "loss"), pairs(FAMILIES.values(), {"cross_entropy", "lambdarank"}))
def test_it_beats_chance_and_every_single_feature(combination, loss, train, valid, test, to_beat):
    assert fits_better_than(to_beat, *combination, loss, None, train, valid, test)


@pytest.mark.parametrize(("combination", "loss"), pairs(SAMPLED, {"lambdarank"}))
def test_it_does_so_under_noise_on_the_scores(combination, loss, train, valid, test, to_beat):
    assert fits_better_than(to_beat, *combination, loss, "gumbel[samples=2,beta=0.25]", train, valid, test)
