"""Clicks are counted by position, travel with their lists, and tell propensities and relevance."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankplug_clicks import harvest, regression_em
from scipy.optimize import minimize

import rankplug as rp
from rankplug.errors import DataError

PROPENSITIES = 1.0 / np.arange(1, 11)


def simulated(documents=2000, impressions=50, positions=10, seed=0, relevance=None, moves=3):
    """Simulate clicks of a position-based model on documents that move between a few positions of their own."""
    noise = np.random.default_rng(seed)
    relevance = noise.uniform(0.1, 0.9, documents) if relevance is None else relevance
    homes = np.argsort(noise.random((documents, positions)), axis=1)[:, :moves] + 1
    rows = np.repeat(np.arange(documents), impressions)
    places = homes[rows, noise.integers(0, moves, rows.size)]
    examined = noise.random(rows.size) < PROPENSITIES[places - 1]
    return rp.Clicks.from_log(rows, places, examined & (noise.random(rows.size) < relevance[rows])), relevance


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3), st.booleans()), min_size=1, max_size=40))
def test_a_log_is_counted_one_impression_after_another(log):
    rows, places, hits = zip(*log, strict=True)
    clicks = rp.Clicks.from_log(rows, places, hits, size=5)
    for document, place in itertools.product(range(5), range(clicks.positions)):
        there = [hit for row, position, hit in log if (row, position) == (document, place + 1)]
        assert clicks.shown[document, place] == len(there)
        assert clicks.clicked[document, place] == sum(there)
    assert (clicks.only_positions is not None) == (sorted(rows) == list(range(5)))


def test_clicks_by_inverse_propensity_are_relevance_wherever_a_document_was_shown():
    clicks, relevance = simulated(impressions=3000, documents=200)
    found = clicks.relevance(PROPENSITIES)
    assert np.abs(found - relevance).mean() < 0.02
    assert np.corrcoef(found, relevance)[0, 1] > 0.99 > 0.9 > np.corrcoef(clicks.rates, relevance)[0, 1]


def test_both_estimators_are_those_of_a_loop_over_impressions():
    noise = np.random.default_rng(2)
    rows, places, hits = noise.integers(0, 6, 400), noise.integers(1, 4, 400), noise.random(400) < 0.2
    clicks, propensities = rp.Clicks.from_log(rows, places, hits, size=6), np.array([1.0, 0.7, 0.4])
    for document in range(6):
        weights, own = propensities[places[rows == document] - 1], hits[rows == document]
        ratio, inverse = (clicks.relevance(propensities, kind)[document] for kind in ("ratio", "inverse"))
        assert ratio == pytest.approx(own.sum() / weights.sum())
        assert inverse == pytest.approx(np.mean(own / weights))


def test_harvested_propensities_are_within_5_hundredths_of_the_truth_at_ten_positions():
    for seed in range(5):
        clicks, _ = simulated(seed=seed)
        assert np.abs(harvest(clicks) - PROPENSITIES).max() < 0.05


def test_harvested_propensities_maximise_the_likelihood_given_each_documents_clicks():
    clicks, _ = simulated(documents=60, positions=4, impressions=30, moves=2)

    def surprise(logs):
        weights = clicks.shown * np.exp(np.concatenate(([0.0], logs)))
        shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        return -(clicks.clicked * np.log(np.where(clicks.clicked > 0, shares, 1.0))).sum()

    best = np.exp(minimize(surprise, np.zeros(3)).x)
    assert harvest(clicks)[1:] == pytest.approx(best, rel=1e-3)


def test_regression_em_finds_propensities_without_moves_where_features_tell_relevance():
    noise = np.random.default_rng(1)
    features = noise.random((3000, 2)).astype(np.float32)
    clicks, _ = simulated(3000, 100, relevance=0.1 + 0.8 * features[:, 0], moves=1, seed=2)
    assert np.abs(regression_em(clicks, features) - PROPENSITIES).max() < 0.05


def test_clicks_travel_with_their_documents():
    clicks, _ = simulated(documents=9, positions=4)
    lists = rp.Lists(np.arange(18).reshape(9, 2), clicks.rates, [0, 2, 5, 9], clicks=clicks)
    for part, rows in ((lists[1:], slice(2, 9)), (lists[[2, 0]], [5, 6, 7, 8, 0, 1]), (lists[1], slice(2, 5))):
        assert part.clicks.shown.tolist() == clicks.shown[rows].tolist()
        assert part.clicks.clicked.tolist() == clicks.clicked[rows].tolist()
    again = rp.Lists.concatenate([lists[:1], lists[1:]])
    assert again.clicks.clicked.tolist() == clicks.clicked.tolist()
    with pytest.raises(DataError, match="some of the lists carry clicks"):
        rp.Lists.concatenate([lists, rp.Lists(np.ones((1, 2)), [0], [0, 1])])


def test_other_clicks_are_other_data():
    clicks, _ = simulated(documents=9, positions=4)
    plain = rp.Lists(np.ones((9, 2)), np.ones(9), [0, 9])
    clicked = rp.Lists(plain.features, plain.labels, plain.starts, clicks=clicks)
    fewer = rp.Lists(plain.features, plain.labels, plain.starts, clicks=rp.Clicks(clicks.shown, 0 * clicks.clicked))
    assert len({lists.fingerprint for lists in (plain, clicked, fewer)}) == 3
