"""Theory of the paper: rankings, walks and bounds, held against counts over all rankings and brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from rankplug_logrank.study import identities, training, walks

import rankplug as rp

STUDY = rp.study("logrank")


def test_w_phi_is_the_signed_sum_of_gaps():
    scores, good = np.array([0.3, -1.2, 0.9, 0.1, 2.0]), np.array([True, False, False, True, False])
    gaps = scores[good][:, None] - scores[~good]
    signs = identities.sign_matrices(2, 3)
    for ranking in signs[identities.comes_from_a_ranking(signs)]:
        inversions = np.empty(5, int)
        inversions[good], inversions[~good] = (ranking < 0).sum(1), -(ranking < 0).sum(0)
        assert training.signed_gaps(scores, good, inversions) == pytest.approx((ranking * gaps).sum())


def test_figure_1_closed_forms_are_sums_over_all_matrices_but_not_over_rankings():
    frame, _ = STUDY.exhibit("Figure 1").draw(None)
    errors = frame.set_index("identity")
    assert (errors.filter(like="e^", axis=0) < 1e-12).all(axis=None)
    over_rankings = errors.filter(like="over rankings", axis=0)
    assert (over_rankings["1 good, 3 bad"] < 1e-12).all() and (over_rankings["3 good, 3 bad"] > 1e-3).all()


@pytest.mark.parametrize(("goods", "bads", "count"), [(2, 2, 14), (2, 3, 46), (3, 3, 230), (2, 4, 146), (1, 5, 32)])
def test_rankings_among_sign_matrices_are_counted_by_poly_bernoulli_numbers(goods, bads, count):
    assert identities.comes_from_a_ranking(identities.sign_matrices(goods, bads)).sum() == count


def test_equal_scores_rank_by_chance_and_not_as_documents_come():
    ties = np.random.default_rng(0).random((4000, walks.PROBLEM_LABELS.size))
    goods = walks.PROBLEM_GOODS
    places = itertools.combinations(range(1, 1 + walks.PROBLEM_LABELS.size), goods)
    by_chance = np.mean([np.mean(np.arange(1, 1 + goods) / place) for place in places])
    assert walks.training_map(np.zeros_like(ties), ties) == pytest.approx(by_chance, abs=0.01)
    assert walks.training_map(np.tile(walks.PROBLEM_LABELS, (2, 1)), ties[:2]) == 1.0


def test_figure_2_walks_stay_among_rankings_and_alpha_never_leaves_its_interval():
    frame, figure = STUDY.exhibit("Figure 2").draw(None)
    assert frame["alpha symmetric"].between(0, 1, inclusive="neither").all() and len(figure.axes) == 4
    for best in (True, False):
        states = walks.walk(best)
        assert states.matches and states.signs.shape == (walks.FLIPS + 1, 4, 12)
        assert np.all((states.signs[1:] != states.signs[:-1]).sum((1, 2)) == 1)
        assert np.allclose(states.deltas, walks.distance_of(states.signs))
    assert np.all(walks.walk(True).signs[0] == 1) and np.all(walks.walk(False).signs[0] == -1)


def test_upward_flips_are_likely_where_they_change_much_unless_alpha_is_local():
    assert walks.correlation(1, "symmetric") < -0.7
    assert walks.correlation(-1, "symmetric") > 0.7
    assert walks.correlation(-1, "local") < -0.7


def test_figure_7_spreads_far_less_around_the_worst_ranking_but_not_in_auc():
    frame, figure = STUDY.exhibit("Figure 7").draw(None)
    assert len(figure.axes) == 9 and set(frame["restart"]) == {"best", "middle", "worst"}
    means = walks.deviations().groupby("gain").mean()
    assert means.loc["MAP", "best"] > 20 * means.loc["MAP", "worst"]
    assert means.loc["AUC", "best"] == pytest.approx(means.loc["AUC", "worst"], rel=1e-9)
    middle = frame[frame["restart"] == "middle"].groupby("gain")["Delta"].mean()
    assert middle.between(0.3, 0.7).all()


def test_convex_loss_is_within_an_eighth_of_l3_which_is_convex():
    frame, figure = STUDY.exhibit("Section 4, A2").draw(None)
    assert frame["gap"].between(-1e-12, 0.125).all() and frame["gap"].max() > 0.01
    assert figure.axes[0].get_ylabel()
    assert identities.largest_bend("logrank_l3") < 1e-9 < identities.largest_bend("exp_gain")


def test_the_live_pictures_redraw():
    even, steep = identities.draw_law(0.0), identities.draw_law(6.0)
    heights = [figure.axes[0].collections[0].get_offsets()[:, 1] for figure in (even, steep)]
    assert np.allclose(heights[0], 1 / 46) and heights[1].max() > 0.5
    one, five = (identities.draw_losses(bads).axes[0].get_lines() for bads in (1, 5))
    assert five[0].get_ydata()[0] == pytest.approx(5 * one[0].get_ydata()[0])
    best, worst = (walks.draw_sample(p_best).axes[0].patches for p_best in (1.0, 0.0))
    assert best[0].get_height() > 0 and worst[0].get_height() == 0


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
