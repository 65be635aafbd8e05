"""RankBoost: the weak ranker of each round is the best there is, and its weight the paper's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankplug_classics.rankboost_engine import Stumps, Thresholds

import rankplug as rp

LAWS = ("all", "list")


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


def pairs_of(lists):
    """Return the better and worse document of every pair, and the list they are in."""
    return [
        (begin + i, begin + j, number)
        for number, begin in enumerate(lists.starts[:-1])
        for i in range(10)
        for j in range(10)
        if lists.labels[begin + i] > lists.labels[begin + j]
    ]


def laws(lists, scores):
    """Compute Freund's D of every pair: over all pairs, and within each list with lists alike."""
    pairs = pairs_of(lists)
    weights = np.array([math.exp(scores[worse] - scores[better]) for better, worse, _ in pairs])
    of_list = np.array([number for _, _, number in pairs])
    sums = np.bincount(of_list, weights, minlength=20)
    return {"all": weights / weights.sum(), "list": weights / sums[of_list] / np.count_nonzero(sums)}


@pytest.mark.parametrize("law", LAWS)
def test_every_round_is_the_papers(lists, law):
    loss = f"rankboost[pairs={law}]"
    model = rp.fit("rankboost", scorer="stumps[rounds=12]", loss=loss, train=lists)
    better, worse = np.array([pair[:2] for pair in pairs_of(lists)]).T
    for rounds, (feature, threshold, weight) in enumerate(model.stumps.rankers):
        D = laws(lists, Stumps(model.stumps.rankers[:rounds]).scores(lists.features))[law]
        h = (lists.features[:, feature] > np.float32(threshold)).astype(float)
        r = (D * (h[better] - h[worse])).sum()
        assert weight == pytest.approx(0.5 * math.log((1 + r) / (1 - r)))
        best = max(
            abs((D * (stump[better].astype(int) - stump[worse])).sum())
            for column in lists.features.T
            for stump in (column > value for value in np.unique(column)[:-1])
        )
        assert abs(r) == pytest.approx(best)
