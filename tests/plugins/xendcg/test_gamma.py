"""The random numbers of XE-NDCG: when they are drawn, by whom, and LightGBM's own."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
from rankplug_xendcg.losses import COUNTER, LIGHTGBM, ONCE, PER_ITERATION, fill_gamma
from scipy import stats

import rankplug as rp
from rankplug.compiled import key_of


def gamma(documents, generator, query=0, iteration=0, source=PER_ITERATION, seed=5):
    drawn = np.empty(documents)
    keys = np.uint64(key_of(1, iteration, query, 0)), np.uint64(key_of(1, -1, query, 0))
    fill_gamma(drawn, *keys, source, 0.0, generator, seed, query, iteration)
    return drawn


def test_lightgbms_first_numbers_are_those_of_its_generator():
    assert gamma(5, LIGHTGBM) == pytest.approx([0.001648, 0.875641, 0.373993, 0.746124, 0.844116], abs=1e-6)


def test_lightgbms_numbers_go_on_from_iteration_to_iteration():
    state, expected = 5 + 3, []
    for _ in range(7 * 12):
        state = (214013 * state + 2531011) % 2**32
        expected.append((state >> 16 & 0x7FFF) / 32768)
    found = np.concatenate([gamma(7, LIGHTGBM, query=3, iteration=iteration) for iteration in range(12)])
    assert found.tolist() == expected


@pytest.mark.parametrize("generator", [COUNTER, LIGHTGBM])
def test_numbers_drawn_once_stay_and_others_change_by_iteration_and_list(generator):
    first = gamma(50, generator, source=ONCE)
    assert (first == gamma(50, generator, source=ONCE, iteration=9)).all()
    fresh = gamma(50, generator)
    assert (fresh != gamma(50, generator, iteration=1)).all()
    assert (fresh != gamma(50, generator, query=1)).any()


def test_our_numbers_are_uniform():
    numbers = np.concatenate([gamma(500, COUNTER, query=query) for query in range(100)])
    assert stats.kstest(numbers, stats.uniform.cdf).pvalue > 1e-3


def test_lists_without_a_relevant_document_can_be_skipped():
    scores, labels = np.array([0.3, -0.2, 0.5, 0.1]), np.array([0.0, 0.0, 0.0, 1.0])
    kept = rp.loss("xe_ndcg").evaluate(scores, labels, [0, 2, 4])
    skipped = rp.loss("xe_ndcg[skip_empty=true]").evaluate(scores, labels, [0, 2, 4])
    assert kept.gradient[:2].any() and kept.value[0] > 0
    assert not skipped.gradient[:2].any() and skipped.value[0] == 0
    assert (kept.gradient[2:] == skipped.gradient[2:]).all()


def test_fifty_trees_agree_with_rank_xendcg():
    generator = np.random.default_rng(0)
    lengths = generator.integers(1, 40, 50)
    features = generator.normal(size=(lengths.sum(), 6))
    labels = np.clip(np.round(features[:, 0] + generator.normal(size=lengths.sum())), 0, 4)
    settings = {
        "learning_rate": 0.1,
        "num_leaves": 15,
        "min_data_in_leaf": 5,
        "min_sum_hessian_in_leaf": 0.0,
        "num_threads": 1,
        "verbose": -1,
    }

    def trained(objective):
        dataset = lgb.Dataset(features, labels, group=lengths)
        return lgb.train({**settings, "objective": objective}, dataset, 50).predict(features)

    objective = rp.loss("xe_ndcg[gamma_rng=lightgbm]").on(
        labels, np.concatenate(([0], np.cumsum(lengths))), step="newton"
    )
    iterations = iter(range(50))

    def ours(scores, dataset):
        evaluation = objective(scores, iteration=next(iterations), dtype=np.float32)
        return evaluation.gradient, evaluation.curvature

    np.testing.assert_allclose(trained(ours), trained("rank_xendcg"), atol=1e-6)
