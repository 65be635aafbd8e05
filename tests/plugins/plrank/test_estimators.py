"""PL-Rank against the expectation over all rankings, written out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rankplug as rp

SCORES, LABELS = np.array([0.4, -0.3, 1.1, 0.2, -0.8]), np.array([1.0, 3.0, 0.0, 2.0, 0.0])
RANKINGS = list(itertools.permutations(range(5)))


def ndcg(ranking, k) -> float:
    discounts = (np.arange(5) < k) / np.log2(2 + np.arange(5))
    gains = 2**LABELS - 1
    return (gains[list(ranking)] * discounts).sum() / (np.sort(gains)[::-1] * discounts).sum()


def probability(ranking, scores) -> float:
    odds = np.exp(scores[list(ranking)])
    return float(np.prod([odds[position] / odds[position:].sum() for position in range(odds.size)]))


def expected_loss(scores, k) -> float:
    return -sum(probability(ranking, scores) * ndcg(ranking, k) for ranking in RANKINGS)


def derivative(k) -> np.ndarray:
    step = 1e-5 * np.eye(5)
    return np.array([(expected_loss(SCORES + shift, k) - expected_loss(SCORES - shift, k)) / 2e-5 for shift in step])


def draws(loss, number=4000) -> list[np.ndarray]:
    """Return value and gradient of independent draws, a row a draw."""
    bound = rp.loss(loss).on(np.tile(LABELS, number), np.arange(0, 5 * number + 1, 5), seed=3)
    evaluation = bound(np.tile(SCORES, number))
    return [evaluation.value[:, None], evaluation.gradient.reshape(number, 5)]


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version_is_unbiased(version, k) -> None:
    value, gradient = draws(f"pl_rank[version={version},samples=1,k={k}]")
    for drawn, expected in ((value, [expected_loss(SCORES, k)]), (gradient, derivative(k))):
        error = drawn.std(axis=0) / np.sqrt(len(drawn))
        assert (np.abs(drawn.mean(axis=0) - expected) < 4.5 * error + 1e-8).all()


@pytest.mark.parametrize("k", [1, 3, 5])
def test_version_3_computes_what_version_2_estimates(k) -> None:
    slow, fast = (draws(f"pl_rank[version={version},samples=3,k={k}]", 50)[1] for version in (2, 3))
    np.testing.assert_allclose(fast, slow, atol=1e-13)


def test_scores_that_lie_far_apart_leave_no_doubt() -> None:
    far = rp.loss("pl_rank").evaluate([900.0, -900.0, 0.0], [0, 1, 2], [0, 3])
    assert far.value == pytest.approx(-(3 / np.log2(3) + 1 / 2) / (3 + 1 / np.log2(3)))
    assert np.abs(far.gradient).max() < 1e-100
