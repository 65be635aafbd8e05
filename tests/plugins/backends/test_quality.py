"""Every backend with each of its scorers learns: better on held-out lists than chance and than any single feature."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp

COMBINATIONS = [
    ("lightgbm", "trees[leaves=7,rounds=30]"),
    ("torch[epochs=15,batch=16,lr=0.02]", "linear"),
    ("torch[epochs=8,batch=16,lr=0.02,clip=5]", "mlp[layers=(16,8),batch_norm=true,input_batch_norm=true]"),
    ("torch[epochs=4,batch=16,lr=0.005]", "attention[width=16]"),
]
LOSSES = ["cross_entropy"]


def quality(scores, lists):
    return rp.metric("ndcg@5").mean(scores, lists.labels, lists.starts)


@pytest.fixture(scope="module")
def to_beat(test):
    chance = quality(np.random.default_rng(0).normal(size=test.documents), test)
    single = [quality(sign * column, test) for column in test.features.T for sign in (1, -1)]
    return max(chance, *single)


@pytest.mark.parametrize("sampler", [None, "gumbel[samples=2,beta=0.25]"], ids=["plain", "gumbel"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("backend", "scorer"), COMBINATIONS, ids=[f"{b[:8]}-{s[:6]}" for b, s in COMBINATIONS])
def test_it_beats_chance_and_every_single_feature(backend, scorer, loss, sampler, train, valid, test, to_beat):
    model = rp.fit(backend, scorer=scorer, loss=loss, sampler=sampler, train=train, valid=valid)
    assert quality(model.predict(test), test) > to_beat + 0.02
