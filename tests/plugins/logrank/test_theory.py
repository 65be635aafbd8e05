"""Theory of the paper: rankings, walks and bounds, held against counts over all rankings and brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from rankplug_logrank.study import identities, training, walks

import rankplug as rp


def test_w_phi_is_the_signed_sum_of_gaps():
    scores, good = np.array([0.3, -1.2, 0.9, 0.1, 2.0]), np.array([True, False, False, True, False])
    gaps = scores[good][:, None] - scores[~good]
    signs = identities.sign_matrices(2, 3)
    for ranking in signs[identities.comes_from_a_ranking(signs)]:
        inversions = np.empty(5, int)
        inversions[good], inversions[~good] = (ranking < 0).sum(1), -(ranking < 0).sum(0)
        assert training.signed_gaps(scores, good, inversions) == pytest.approx((ranking * gaps).sum())


def test_equal_scores_rank_by_chance_and_not_as_documents_come():
    ties = np.random.default_rng(0).random((4000, walks.PROBLEM_LABELS.size))
    goods = walks.PROBLEM_GOODS
    places = itertools.combinations(range(1, 1 + walks.PROBLEM_LABELS.size), goods)
    by_chance = np.mean([np.mean(np.arange(1, 1 + goods) / place) for place in places])
    assert walks.training_map(np.zeros_like(ties), ties) == pytest.approx(by_chance, abs=0.01)
    assert walks.training_map(np.tile(walks.PROBLEM_LABELS, (2, 1)), ties[:2]) == 1.0


def test_random_orders_have_the_expected_loss_of_brute_force():
    for gain in ("MAP", "NDCG"):
        every = np.array(list(itertools.combinations(range(6), 2)))
        exact = training.loss_of_ranks(gain, every).mean()
        assert training.loss_of_random_orders(gain, ((2, 6), (0, 6)))[0] == pytest.approx(exact, abs=0.06)
    values = rp.metric("map")(np.arange(6, 0, -1.0), np.array([0.0, 1, 0, 0, 1, 0]), [0, 6])
    assert training.loss_of_ranks("MAP", np.array([[1, 4]]))[0] == pytest.approx(1 - values[0])


def test_the_walk_by_the_law_visits_rankings_as_often_as_the_law_says():
    """Every order's chance is compared, summed over the orders that are one ranking of good and bad documents."""
    scores, number = np.array([0.4, -0.2, 0.1, 0.3]), 60_000
    inversions, gains = np.zeros((number, 4)), np.zeros(number)
    walks.walk_by_law(scores, np.arange(4), 2, np.uint64(5), 3, inversions, gains)
    orders = np.array(list(itertools.permutations(range(4))))
    above = np.argsort(orders, axis=1)[:, :2, None] > np.argsort(orders, axis=1)[:, None, 2:]
    of_orders = np.concatenate([above.sum(2), -above.sum(1)], axis=1)
    weights = np.exp(-2 * of_orders @ scores)
    for row in np.unique(of_orders, axis=0):
        chance = weights[(of_orders == row).all(1)].sum() / weights.sum()
        assert (inversions == row).all(1).mean() == pytest.approx(chance, abs=0.012)
    exact = [1 - training.loss_of_ranks("MAP", np.sort(np.argsort(order)[None, :2], axis=1))[0] for order in orders]
    assert gains.mean() == pytest.approx(weights @ exact / weights.sum(), abs=0.01)


def test_the_gradient_on_fixed_rankings_is_that_of_the_loss():
    noise = np.random.default_rng(3)
    scores = noise.normal(size=walks.PROBLEM_LABELS.size)
    value, gradient = walks.list_objective(scores, walks.drawn_without_scores(2, 7))
    bound = rp.loss(f"exp_gain[gain=map,samples={walks.RANKINGS},p_best=0.5]")
    labels = np.tile(walks.PROBLEM_LABELS, 3)
    evaluation = bound.evaluate(np.tile(scores, 3), labels, np.arange(0, labels.size + 1, scores.size), seed=7)
    assert value == pytest.approx(evaluation.value[2], rel=1e-12)
    assert gradient == pytest.approx(evaluation.gradient[-scores.size :], abs=1e-12)
