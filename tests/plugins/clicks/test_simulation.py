"""Simulated click logs follow their click models, and record the truth that they hide."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp

LAW = np.array([0.1, 0.16, 0.28, 0.52, 1.0])


def made(queries, seed):
    """Make lists of eight documents, whose labels the features tell in part."""
    noise = np.random.default_rng(seed)
    features = noise.normal(size=(8 * queries, 3)).astype(np.float32)
    labels = np.clip(np.round(1.5 + features[:, 0] + noise.normal(size=8 * queries)), 0, 4)
    return rp.Lists(features, labels, np.arange(0, 8 * queries + 1, 8))


@pytest.fixture(scope="module")
def split():
    return rp.Split(made(40, 0), made(10, 1), made(10, 2))


def test_training_and_validation_carry_clicks_and_the_test_part_is_left_alone(split, transform):
    log = transform("click_log[impressions=20]", split)
    for before, after in ((split.train, log.train), (split.valid, log.valid)):
        assert after.clicks.true_labels.tolist() == before.labels.tolist()
        assert 2**after.labels - 1 == pytest.approx(15 * after.clicks.rates, rel=1e-4)
        assert (after.clicks.shown.sum(axis=1) == 20).all()
    assert log.test.fingerprint == split.test.fingerprint
    assert log.test.clicks is None


def test_users_of_the_position_model_click_by_propensity_and_relevance(split, transform):
    log = transform("click_log[impressions=4000,swaps=1]", split).train.clicks
    assert log.true_propensities == pytest.approx(1 / np.arange(1, 9))
    expected = log.shown * np.outer(LAW[log.true_labels.astype(int)], log.true_propensities)
    often = expected > 200
    assert often.sum() > 100
    assert (np.abs(log.clicked - expected)[often] < 5 * np.sqrt(expected[often])).all()


def test_lists_of_impressions_add_up_to_lists_of_queries(split, transform):
    whole = transform("click_log[impressions=30,swaps=0.5]", split).train
    single = transform("click_log[impressions=30,swaps=0.5,lists=impressions]", split).train
    assert len(single) == 30 * len(whole)
    assert single.clicks.only_positions.tolist() == np.tile(np.arange(1, 9), len(single)).tolist()
    assert single.clicks.clicked.sum(axis=0).tolist() == whole.clicks.clicked.sum(axis=0).tolist()
    assert single.labels.tolist() == single.clicks.clicked.sum(axis=1).tolist()
    first, rows = whole[0], single[:30]
    for document in range(8):
        same = (rows.features == first.features[document]).all(axis=1)
        assert rows.clicks.shown[same].sum(axis=0).tolist() == first.clicks.shown[document].tolist()


def test_users_of_the_cascade_leave_at_their_first_click(split, transform):
    log = transform("click_log[model=cascade,impressions=40,lists=impressions]", split).train
    clicks = np.add.reduceat(log.labels, log.starts[:-1])
    assert set(clicks.tolist()) == {0.0, 1.0}
    # Who gets to a position has not clicked above it.
    before = np.cumsum(log.labels.reshape(-1, 8), axis=1) - log.labels.reshape(-1, 8)
    assert log.clicks.true_propensities == pytest.approx((before == 0).mean(axis=0))
