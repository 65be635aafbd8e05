"""The weights of YetiLoss are what exchanging neighbours changes in a metric that is computed by another package."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rankplug as rp

SCORES, LABELS = np.array([0.4, -0.3, 1.1, 0.2]), np.array([1.0, 3.0, 0.0, 2.0])
METRICS = ("ndcg", "map", "mrr", "err")


def of_order(metric, order) -> float:
    """Return a metric of an order of the documents, by scores that fall along it."""
    scores = np.empty(4)
    scores[list(order)] = [4, 3, 2, 1]
    return float(rp.metric(metric)(scores, LABELS, [0, 4])[0])


def loss_of_order(metric, order) -> tuple[float, np.ndarray]:
    value, gradient = 0.0, np.zeros(4)
    for place in range(3):
        exchanged = list(order)
        exchanged[place : place + 2] = exchanged[place : place + 2][::-1]
        weight = abs(of_order(metric, exchanged) - of_order(metric, order))
        better, worse = sorted(order[place : place + 2], key=lambda document: -LABELS[document])
        gap = SCORES[better] - SCORES[worse]
        value += weight * np.log1p(np.exp(-gap))
        gradient[[better, worse]] += weight / (1 + np.exp(gap)) * np.array([-1, 1])
    return value, gradient


@pytest.mark.parametrize("metric", METRICS)
def test_one_permutation_is_one_of_all_orders(metric) -> None:
    possible = [loss_of_order(metric, order) for order in itertools.permutations(range(4))]
    bound = rp.loss(f"yetiloss[metric={metric},permutations=1]").on(np.tile(LABELS, 300), np.arange(0, 1201, 4))
    found = bound(np.tile(SCORES, 300))
    drawn = np.column_stack([found.value, found.gradient.reshape(300, 4)])
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
    found = bound(np.tile([gap / 2, -gap / 2, -100.0], number))
    # R of the two is 3/4 and 1/4: the third one's pair weighs (1 - 3/4)(1/4) or (1 - 1/4)(3/4), by who is first.
    weights = {True: (1 - 0.75) * 0.25 / 6, False: (1 - 0.25) * 0.75 / 6}
    third = found.gradient[2::3]
    near = {
        first: np.isclose(third, weight / (1 + np.exp(100 + side * gap / 2)), rtol=1e-9, atol=0)
        for (first, weight), side in zip(weights.items(), (-1, 1), strict=True)
    }
    assert (near[True] | near[False]).all()
    chance = (1 - (1 + gap) * np.exp(-gap)) / (1 - np.exp(-gap)) ** 2
    assert near[True].mean() == pytest.approx(chance, abs=0.01)
