"""StochasticRank against the expected NDCG by the normal law of the scores' differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import rankplug as rp

SCORES, LABELS, SIGMA = np.array([0.4, -0.3, 0.9]), np.array([1.0, 2.0, 0.0]), 0.7


def expected_loss(scores, k) -> float:
    """Sum over rankings; each is two differences of scores being positive, jointly normal."""
    gains, discounts = 2**LABELS - 1, (np.arange(3) < k) / np.log2(2 + np.arange(3))
    ideal = (np.sort(gains)[::-1] * discounts).sum()
    total = 0.0
    for a, b, c in itertools.permutations(range(3)):
        law = multivariate_normal([0, 0], SIGMA**2 * np.array([[2, -1], [-1, 2]]))
        chance = law.cdf([scores[a] - scores[b], scores[b] - scores[c]])
        total += chance * (gains[[a, b, c]] * discounts).sum() / ideal
    return -total


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_estimate_is_unbiased(k) -> None:
    number = 20_000
    bound = rp.loss(f"stochastic_rank[sigma={SIGMA},k={k}]").on(
        np.tile(LABELS, number), np.arange(0, 3 * number + 1, 3), seed=5
    )
    evaluation = bound(np.tile(SCORES, number))
    step = 1e-3 * np.eye(3)
    derivative = [(expected_loss(SCORES + shift, k) - expected_loss(SCORES - shift, k)) / 2e-3 for shift in step]
    drawn = evaluation.gradient.reshape(number, 3)
    assert (np.abs(drawn.mean(axis=0) - derivative) < 4.5 * drawn.std(axis=0) / np.sqrt(number) + 1e-5).all()
    error = evaluation.value.std() / np.sqrt(number)
    assert evaluation.value.mean() == pytest.approx(expected_loss(SCORES, k), abs=4.5 * error + 1e-5)
