"""The weights of YetiLoss are those of its authors' release, and what exchanging neighbours changes in most metrics.

The numbers of the release are gradients of CatBoost 1.2.10, without noise and with one permutation and one neighbour
(``dcg_type=Exp`` for NDCG, labels ``(2^y - 1) / 2^3`` for ERR). Each is half the difference between the two leaves of a
tree whose only feature tells one document from the others, times an ``l2_leaf_reg`` of a million: leaf values are
centred there, and curvatures nothing beside it. The scores are given as ``baseline``.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rankplug as rp

SCORES, LABELS = np.array([0.4, -0.3, 1.1, 0.2]), np.array([1.0, 3.0, 0.0, 2.0])
METRICS = ("ndcg", "map", "mrr", "err")
RELEASED_SCORES, RELEASED_LABELS = np.array([0.3, 0.5, -0.2, 0.1, 0.0, 0.4]), np.array([2.0, 0.0, 1.0, 0.0, 3.0, 0.0])
RELEASED = {
    "ndcg": (-0.031921, 0.0, 0.0088125, 0.027113, -0.0259582, 0.0219537),
    "map": (-0.4125448, 0.0, 0.0, 0.2813001, -0.1312448, 0.2624896),
    "mrr": (-0.1250104, 0.0, 0.0, 0.0375138, 0.0, 0.0874965),
    "err": (-0.0468789, 0.0, 0.0070338, 0.0284226, -0.0213887, 0.0328112),
}


@pytest.mark.parametrize("metric", METRICS)
def test_a_draw_that_keeps_the_order_has_the_released_gradient(metric) -> None:
    """Test that the order by the scores alone is among 20,000 draws of the 720 orders."""
    number = 20_000
    bound = rp.loss(f"yetiloss[metric={metric},permutations=1]").on(
        np.tile(RELEASED_LABELS, number), 6 * np.arange(number + 1)
    )
    drawn = bound(np.tile(RELEASED_SCORES, number)).gradient.reshape(number, 6)
    assert np.abs(drawn - RELEASED[metric]).max(axis=1).min() < 2e-7


def of_order(metric, order) -> float:
    """Return a metric of an order of the documents, by scores that fall along it."""
    scores = np.empty(4)
    scores[list(order)] = [4, 3, 2, 1]
    return float(rp.metric(metric)(scores, LABELS, [0, 4])[0])


def loss_of_order(metric, order) -> tuple[float, np.ndarray]:
    value, gradient = 0.0, np.zeros(4)
    for position in range(3):
        exchanged = list(order)
        exchanged[position : position + 2] = exchanged[position : position + 2][::-1]
        better, worse = sorted(order[position : position + 2], key=lambda document: -LABELS[document])
        weight = abs(of_order(metric, exchanged) - of_order(metric, order))
        if metric == "map":
            weight = float(LABELS[worse] < 1) / (position + 1)
        gap = SCORES[better] - SCORES[worse]
        value += weight * np.log1p(np.exp(-gap))
        gradient[[better, worse]] += weight / (1 + np.exp(gap)) * np.array([-1, 1])
    return value, gradient


@pytest.mark.parametrize("metric", METRICS)
def test_one_permutation_is_one_of_all_orders(metric) -> None:
    possible = [loss_of_order(metric, order) for order in itertools.permutations(range(4))]
    bound = rp.loss(f"yetiloss[metric={metric},permutations=1]").on(np.tile(LABELS, 300), np.arange(0, 1201, 4))
    evaluation = bound(np.tile(SCORES, 300))
    drawn = np.column_stack([evaluation.value, evaluation.gradient.reshape(300, 4)])
    known = np.array([[value, *gradient] for value, gradient in possible])
    apart = np.abs(drawn[:, None] - known).max(axis=2)
    assert apart.min(axis=1).max() < 1e-12
    assert len(set(apart.argmin(axis=1))) > 3


def test_the_orders_are_those_of_logistic_noise() -> None:
    """The chance that noise puts the second of two first is that of a difference of two logistic draws."""
    gap, number = 0.8, 40_000
    bound = rp.loss("yetiloss[metric=err,permutations=1]").on(
        np.tile([2.0, 1.0, 0.0], number), 3 * np.arange(number + 1)
    )
    evaluation = bound(np.tile([gap / 2, -gap / 2, -100.0], number))
    # R of the two is 3/4 and 1/4: the third one's pair weighs (1 - 3/4)(1/4) or (1 - 1/4)(3/4), by who is first.
    weights = {True: (1 - 0.75) * 0.25 / 6, False: (1 - 0.25) * 0.75 / 6}
    third = evaluation.gradient[2::3]
    near = {
        first: np.isclose(third, weight / (1 + np.exp(100 + side * gap / 2)), rtol=1e-9, atol=0)
        for (first, weight), side in zip(weights.items(), (-1, 1), strict=True)
    }
    assert (near[True] | near[False]).all()
    chance = (1 - (1 + gap) * np.exp(-gap)) / (1 - np.exp(-gap)) ** 2
    assert near[True].mean() == pytest.approx(chance, abs=0.01)
