"""NeuralSort's losses against their formulas, document by document, and against NDCG at a low temperature."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankplug as rp

SCORES, LABELS = np.array([0.4, -0.3, 1.1, 0.2, -0.8]), np.array([1.0, 3.0, 0.0, 1.0, 0.0])
GAINS, DISCOUNTS = 2**LABELS - 1, 1 / np.log2(2 + np.arange(5))


def matrix(temperature) -> np.ndarray:
    """Compute Equation 5 of NeuralSort, one entry after the other."""
    rows = []
    for rank in range(1, 6):
        entries = [
            math.exp(((5 + 1 - 2 * rank) * score - sum(abs(score - other) for other in SCORES)) / temperature)
            for score in SCORES
        ]
        rows.append([entry / sum(entries) for entry in entries])
    return np.array(rows)


def ndcg(permutation, k=5) -> float:
    ideal = (np.sort(GAINS)[::-1] * DISCOUNTS)[:k].sum()
    return (permutation @ GAINS * DISCOUNTS)[:k].sum() / ideal


def value(loss, scores=SCORES) -> float:
    return rp.loss(loss).evaluate(scores, LABELS, [0, 5]).value.item()


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_pirank_is_one_less_the_relaxed_ndcg(temperature, k) -> None:
    assert value(f"pirank[temperature={temperature},k={k}]") == pytest.approx(1 - ndcg(matrix(temperature), k))


@pytest.mark.parametrize("scalings", [0, 1, 7])
def test_neural_ndcg_scales_columns_and_rows(scalings) -> None:
    scaled = matrix(1.0)
    for _ in range(scalings):
        scaled = scaled / scaled.sum(axis=0)
        scaled = scaled / scaled.sum(axis=1, keepdims=True)
    assert value(f"neural_ndcg[scalings={scalings}]") == pytest.approx(-ndcg(scaled))


def test_neural_sort_is_the_mean_cross_entropy_over_all_sorting_permutations() -> None:
    logarithms, total = np.log(matrix(1.0)), []
    for first in ((0, 3), (3, 0)):
        for last in ((2, 4), (4, 2)):
            order = [1, *first, *last]
            total.append(-np.mean([logarithms[rank, document] for rank, document in enumerate(order)]))
    assert value("neural_sort") == pytest.approx(np.mean(total))
