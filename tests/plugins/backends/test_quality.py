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
FAMILIES = ("mse", "ranknet", "approx_ndcg", "xe_ndcg", "urank", "logrank_l3")
NOISE = "gumbel[samples=2,beta=0.25]"
CASES = [
    *((*combination, "lambdarank", None) for combination in COMBINATIONS),
    *((*combination, "lambdarank", NOISE) for combination in (COMBINATIONS[0], COMBINATIONS[5], COMBINATIONS[10])),
    *(
        pytest.param(*case, marks=pytest.mark.slow)
        for case in (
            *((*combination, "cross_entropy", None) for combination in COMBINATIONS),
            *((*COMBINATIONS[0], loss, None) for loss in FAMILIES),
            *((*COMBINATIONS[0], loss, NOISE) for loss in ("ranknet", "approx_ndcg")),
        )
    ),
]


def synthetic_lists(queries, seed):
    """Return lists whose relevance depends on three features together, so that no single one ranks well."""
    noise = np.random.default_rng(seed)
    lengths = noise.integers(5, 25, queries)
    features = noise.normal(size=(int(lengths.sum()), 6)).astype(np.float32)
    merit = features[:, 0] + features[:, 1] + 0.8 * features[:, 2] + 0.3 * noise.normal(size=features.shape[0])
    labels = np.digitize(merit, [0.6, 1.6, 2.4, 3.2]).astype(np.float32)
    return rp.Lists(features, labels, np.concatenate(([0], np.cumsum(lengths))))


def quality(scores, lists):
    return rp.metric("ndcg@5").mean(scores, lists.labels, lists.starts)


@pytest.fixture(scope="module")
def split():
    return rp.Split(synthetic_lists(120, seed=1), synthetic_lists(60, seed=2), synthetic_lists(120, seed=3))


@pytest.mark.parametrize(("backend", "scorer", "loss", "sampler"), CASES)
def test_it_beats_chance_and_every_single_feature(backend, scorer, loss, sampler, split):
    train, valid, test = split
    chance = quality(np.random.default_rng(0).normal(size=test.documents), test)
    single = [quality(sign * column, test) for column in test.features.T for sign in (1, -1)]
    model = rp.fit(backend, scorer=scorer, loss=loss, sampler=sampler, train=train, valid=valid, train_curve=False)
    assert quality(model.predict(test), test) > max(chance, *single) + 0.02
