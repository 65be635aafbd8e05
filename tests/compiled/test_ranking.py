"""Sorting is total and does not depend on where it started; ideal DCG and constants are their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankplug.compiled import STABLE, fill_dcg_constants, ideal_dcg, rank_labels, sort_best_first

SCORES = st.lists(
    st.one_of(st.floats(-1e300, 1e300), st.integers(-3, 3).map(float), st.floats(-1e-300, 1e-300)), min_size=1
)


def best_first(scores, start):
    order = np.array(start, np.int32)
    ranked = sort_best_first(np.asarray(scores, np.float64), order)
    return order, ranked


@settings(max_examples=100, deadline=None)
@given(SCORES, st.randoms(use_true_random=False))
def test_ties_keep_their_position_wherever_sorting_starts(scores, random):
    expected = np.argsort(-np.array(scores), kind="stable")
    start = list(range(len(scores)))
    random.shuffle(start)
    order, ranked = best_first(scores, start)
    assert order.tolist() == expected.tolist()
    assert ranked.tolist() == np.array(scores)[expected].tolist()


@pytest.mark.parametrize("spread", [1.0, 40.0, 300.0])
def test_long_lists_of_uneven_spread_are_sorted(spread):
    generator = np.random.default_rng(3)
    scores = np.exp(spread * generator.normal(size=5000).clip(-2, 2))
    order, _ = best_first(scores, generator.permutation(5000))
    assert order.tolist() == np.argsort(-scores, kind="stable").tolist()


def test_an_order_of_earlier_scores_is_a_valid_start():
    generator = np.random.default_rng(4)
    scores = generator.normal(size=400)
    order, _ = best_first(scores, np.arange(400))
    for _ in range(20):
        scores += generator.normal(size=400) * generator.choice([1e-3, 0.1, 2.0])
        order, _ = best_first(scores, order)
        assert order.tolist() == np.argsort(-scores, kind="stable").tolist()


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 4.0, 0.5]), min_size=1), st.integers(1, 20))
def test_constants_are_inverse_ideal_gains_and_discounts(labels, cutoff):
    labels = np.array(labels)
    gains, discounts = 2.0**labels - 1, 1 / np.log2(np.arange(labels.size) + 2)
    ideal = (np.sort(gains)[::-1] * discounts)[:cutoff].sum()
    assert ideal_dcg(labels, cutoff) == pytest.approx(ideal, rel=1e-13)
    constants = np.empty(2 * labels.size + 1)
    fill_dcg_constants(labels, cutoff, constants)
    assert constants == pytest.approx([1 / ideal if ideal else 0.0, *gains, *discounts], rel=1e-13)


@pytest.mark.parametrize("documents", [33, 100, 511, 512, 513])
@pytest.mark.parametrize(
    "kind", ["apart", "closer than single precision", "tied", "infinite", "beyond single precision"]
)
def test_labels_stand_in_the_order_of_a_stable_sort(documents, kind):
    generator = np.random.default_rng(documents)
    scores = {
        "apart": generator.normal(size=documents),
        "closer than single precision": 1.0 + 1e-12 * generator.permutation(documents),
        "tied": generator.integers(0, 7, documents).astype(float),
        "infinite": np.where(generator.random(documents) < 0.3, -np.inf, generator.integers(0, 3, documents) * 1e308),
        "beyond single precision": 1e200 * generator.normal(size=documents),
    }[kind]
    labels = generator.integers(0, 3, documents).astype(float)
    for places in (documents, 40 if documents > 40 else documents):
        ranked = np.empty(places)
        rank_labels(scores, labels, STABLE, labels, np.empty(documents, np.int32), ranked)
        np.testing.assert_array_equal(ranked, labels[np.argsort(-scores, kind="stable")][:places])
