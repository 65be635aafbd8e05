"""FRank: the loss is the published one, and every round takes the step that leaves the least of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rankplug_classics.frank_engine import WIDEST, FidelitySteps
from rankplug_classics.rankboost_engine import Stumps, Thresholds

import rankplug as rp


@pytest.fixture(scope="module")
def lists():
    noise = np.random.default_rng(5)
    lengths = noise.integers(2, 12, 30)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    features = noise.normal(size=(starts[-1], 3)).astype(np.float32).round(1)
    merit = features[:, 0] - features[:, 1] + 0.7 * noise.normal(size=starts[-1])
    labels = np.digitize(merit, [0.5, 1.5]).astype(np.float32)
    labels[: lengths[0]] = 1
    return rp.Lists(features, labels, starts)


def pairs_of(lists):
    """Return better and worse document of every pair, and one over the number of pairs of their list."""
    better, worse, share = [], [], []
    for begin, end in zip(lists.starts[:-1], lists.starts[1:], strict=True):
        own = [(i, j) for i in range(begin, end) for j in range(begin, end) if lists.labels[i] > lists.labels[j]]
        better += [i for i, _ in own]
        worse += [j for _, j in own]
        share += [1 / max(1, len(own))] * len(own)
    return np.array(better), np.array(worse), np.array(share)


def published_loss(gaps):
    """Compute the loss from both states of a pair: with the target 1, and P of the logistic function."""
    target, P = 1.0, 1 / (1 + np.exp(-gaps))
    return 1 - np.sqrt(target * P) - np.sqrt((1 - target) * (1 - P))


@pytest.mark.parametrize("mean", [True, False])
def test_the_loss_is_that_of_the_pairs(lists, mean):
    scores = 3 * np.random.default_rng(0).normal(size=lists.documents)
    better, worse, share = pairs_of(lists)
    losses = published_loss(scores[better] - scores[worse]) * (share if mean else 1)
    found = rp.loss(f"fidelity[mean={str(mean).lower()}]").evaluate(scores, lists.labels, lists.starts)
    of_list = np.searchsorted(lists.starts, better, side="right") - 1
    assert found.value == pytest.approx(np.bincount(of_list, losses, minlength=len(lists)))


def test_hopeless_pairs_cost_one_and_pull_nothing():
    found = rp.loss("fidelity").evaluate(np.array([-900.0, 900.0]), np.array([1.0, 0.0]), [0, 2])
    assert found.value.tolist() == [1.0] and found.gradient.tolist() == [0.0, 0.0]
    right = rp.loss("fidelity").evaluate(np.array([50.0, 0.0]), np.array([1.0, 0.0]), [0, 2])
    assert right.value[0] == pytest.approx(0.5 * math.exp(-50), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mean", [True, False])
def test_every_round_leaves_the_least_loss(lists, mean, weighted):
    given = np.random.default_rng(2).uniform(0.5, 2.0, len(lists)) if weighted else None
    loss = f"fidelity[mean={str(mean).lower()}]"
    model = rp.fit("frank", scorer="stumps[rounds=10]", loss=loss, train=lists, weights=given)
    better, worse, D = pairs_of(lists)
    D = D if mean else np.ones_like(D)
    if given is not None:
        D = D * np.repeat(given, lists.lengths)[better]
    assert len(model.stumps.rankers) == 10
    for rounds, taken in enumerate(model.stumps.rankers):
        scores = Stumps(model.stumps.rankers[:rounds]).scores(lists.features)
        o = scores[better] - scores[worse]
        W = D * np.exp(o / 2) / (1 + np.exp(o)) ** 1.5
        left = {}
        for feature, column in enumerate(lists.features.T):
            for threshold in np.unique(column)[:-1]:
                m = (column[better] > threshold).astype(int) - (column[worse] > threshold)
                r = np.clip((W * m).sum() / max(1e-300, W[m != 0].sum()), -1 + 1e-6, 1 - 1e-6)
                alpha = 0.5 * math.log((1 + r) / (1 - r))
                left[feature, float(threshold), alpha] = (D * published_loss(o + alpha * m)).sum()
        best = min(left, key=left.__getitem__)
        assert left[best] < (D * published_loss(o)).sum()
        assert taken[2] == pytest.approx(best[2])
        m = (lists.features[better, taken[0]] > taken[1]).astype(int) - (lists.features[worse, taken[0]] > taken[1])
        assert (D * published_loss(o + taken[2] * m)).sum() == pytest.approx(left[best], abs=1e-9)


def test_scores_that_spread_wide_are_looked_at_pair_by_pair(lists):
    steps = FidelitySteps(lists, Thresholds(lists.features, 255), np.ones(len(lists)))
    near = np.random.default_rng(1).normal(size=lists.documents)
    far = near.copy()
    far[lists.starts[:-1]] -= 2 * WIDEST
    assert steps.best(near).fall > 0 and np.isfinite(steps.best(far).fall)
    better, worse, _ = pairs_of(lists)
    with np.errstate(over="ignore"):
        before, step = published_loss(far[better] - far[worse]).sum(), steps.best(far)
        after = far + step.weight * (lists.features[:, step.feature] > np.float32(step.threshold))
        assert step.fall == pytest.approx(before - published_loss(after[better] - after[worse]).sum())
