"""AdaRank: the loss is that of the metrics, its pushes those of exchanges, and every round is the paper's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rankplug_classics.adarank_engine import SingleFeatures

import rankplug as rp

METRICS = {
    "adarank": "map",
    "adarank[measure=ndcg]": "ndcg",
    "adarank[measure=ndcg,at=3,discount=jk]": "ndcg@3[discount=jk]",
}


@pytest.fixture(scope="module")
def lists():
    noise = np.random.default_rng(3)
    lengths = noise.integers(3, 12, 40)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    features = noise.normal(size=(starts[-1], 5)).astype(np.float32)
    merit = features[:, :3].sum(axis=1) + noise.normal(size=starts[-1])
    labels = np.digitize(merit, [0.8, 2.0]).astype(np.float32)
    labels[: lengths[0]] = 0
    return rp.Lists(features, labels, starts)


def measures(metric, scores, lists):
    """Return a metric of each list, 0 where it is undefined."""
    return np.nan_to_num(rp.metric(metric)(scores, lists.labels, lists.starts))


@pytest.mark.parametrize("loss", METRICS)
def test_the_loss_is_the_exponential_of_minus_the_metric(lists, loss):
    scores = np.random.default_rng(0).normal(size=lists.documents)
    found = rp.loss(loss).evaluate(scores, lists.labels, lists.starts).value
    assert found == pytest.approx(np.exp(-measures(METRICS[loss], scores, lists)))


@pytest.mark.parametrize("loss", METRICS)
def test_pairs_are_pushed_by_what_their_exchange_changes(loss):
    noise = np.random.default_rng(1)
    scores, labels = noise.normal(size=7), np.array([0.0, 2.0, 1.0, 0.0, 1.0, 0.0, 2.0])
    metric = rp.metric(METRICS[loss])
    before = metric(scores, labels, [0, 7])[0]
    gradient = np.zeros(7)
    for i in range(7):
        for j in range(7):
            if labels[i] > labels[j]:
                exchanged = scores.copy()
                exchanged[[i, j]] = scores[[j, i]]
                change = abs(metric(exchanged, labels, [0, 7])[0] - before)
                push = math.exp(-before) * change / (1 + math.exp(scores[i] - scores[j]))
                gradient[i] -= push
                gradient[j] += push
    assert rp.loss(loss).evaluate(scores, labels, [0, 7]).gradient == pytest.approx(gradient)


@pytest.mark.parametrize("loss", METRICS)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_round_is_the_papers(lists, loss, weighted):
    given = np.random.default_rng(2).uniform(0.5, 2.0, len(lists)) if weighted else np.ones(len(lists))
    model = rp.fit(
        "adarank", scorer="single_features[rounds=12]", loss=loss, train=lists, weights=given if weighted else None
    )
    rankers = model.single_features.rankers
    assert len({feature for feature, _ in rankers}) > 1
    of_features = [measures(METRICS[loss], column.astype(float), lists) for column in lists.features.T]
    for rounds, (feature, weight) in enumerate(rankers):
        so_far = SingleFeatures(rankers[:rounds]).scores(lists.features)
        law = given * (np.exp(-measures(METRICS[loss], so_far, lists)) if rounds else 1.0)
        law /= law.sum()
        weighted_measures = [(law * one).sum() for one in of_features]
        assert weighted_measures[feature] == pytest.approx(max(weighted_measures))
        own = of_features[feature]
        assert weight == pytest.approx(0.5 * math.log((law * (1 + own)).sum() / (law * (1 - own)).sum()))
