"""The paper's losses and its sampler of rankings against golden numbers and sums over everything there is."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from rankplug_logrank import losses
from rankplug_logrank.long_lists import EXPONENTIAL
from rankplug_logrank.parameters import RankingSet
from rankplug_logrank.rankings import sample_rankings
from rankplug_logrank.walk import delta
from scipy.special import logsumexp

import rankplug as rp
from rankplug.errors import ParameterError
from rankplug.losses import LongLists

GOLDEN = json.loads((Path(__file__).parents[2] / "golden.json").read_text())
GENERATOR = np.random.default_rng(4)
GAINS = ["auc", "map", "ndcg"]
LOSSES = ["logrank_mle", "logrank_l3", "convex_loss", "exp_gain", "logrank_l2", "logrank_exponential"]
LONG = ["convex_loss", *(pytest.param(loss, marks=pytest.mark.slow) for loss in LOSSES if loss != "convex_loss")]


def sign_matrices(goods: int, bads: int) -> np.ndarray:
    return np.array(list(itertools.product([1, -1], repeat=goods * bads))).reshape(-1, goods, bads)


def comes_from_an_order(signs: np.ndarray) -> bool:
    below = [frozenset(np.flatnonzero(row == 1)) for row in signs]
    return all(first <= other or other <= first for first, other in itertools.combinations(below, 2))


def delta_in_numpy(signs: np.ndarray, gain: str, k: int = 10, discount: str = "jk") -> float:
    if gain == "auc":
        return (signs == -1).mean()
    places = np.arange(len(signs))
    ranks = places + np.sort((signs == -1).sum(1))
    if gain == "map":
        return 1 - np.mean((1 + places) / (1 + ranks))

    def weight(rank):
        plain = 1 / np.log2(2 + rank) if discount == "log2" else 1 / np.log2(np.maximum(2, 1 + rank))
        return np.where(rank < k, plain, 0)

    return 1 - weight(ranks).sum() / weight(places).sum()


def gap_in_numpy(signs: np.ndarray, good, bad) -> float:
    return ((1 - signs) * (good[:, None] - bad)).sum()


def inversions_of(signs: np.ndarray) -> np.ndarray:
    return np.concatenate([(signs == -1).sum(1), -(signs == -1).sum(0)])


def sums_in_numpy(exponents, deltas) -> dict[str, float]:
    """Compute each loss over a set of rankings."""
    law = np.exp(exponents - logsumexp(exponents))
    return {
        "logrank_mle": logsumexp(exponents),
        "logrank_l3": logsumexp(exponents) + law @ deltas,
        "convex_loss": logsumexp(exponents + deltas),
        "exp_gain": -np.log(law @ (1 - deltas)),
        "logrank_l2": law @ deltas,
        "logrank_exponential": np.log(law @ np.exp(deltas)),
    }


def over_a_set(name: str, matrices, scores, labels, gain) -> tuple[float, np.ndarray]:
    """Compute our compiled loss with its set of rankings replaced."""
    rows = [[delta_in_numpy(signs, gain), *inversions_of(signs)] for signs in matrices]
    constants = np.concatenate([[len(rows)], np.ravel(rows)])
    gradient, curvature = np.empty(scores.size), np.empty(scores.size)
    value = getattr(losses, name)(scores, labels, gradient, curvature, constants, False, False)
    return value, gradient


@pytest.mark.parametrize(("gain", "key"), [("auc", "delta_auc"), ("map", "delta_map"), ("ndcg", "delta_ndcg_k10_jk")])
def test_golden_distances_of_one_ranking(gain, key):
    golden = GOLDEN["logrank_losses_of_one_ranking"]
    signs = np.array(golden["in"]["y"])
    with_bads_above = np.bincount((signs == -1).sum(1), minlength=4)
    assert delta(GAINS.index(gain), with_bads_above, 2, 10, 0) == pytest.approx(golden["out"][key], abs=1e-8)
    if gain == "ndcg":
        expected = golden["out"]["delta_ndcg_k10_log2"]
        assert delta(2, with_bads_above, 2, 10, 1) == pytest.approx(expected, abs=1e-8)


@pytest.fixture(scope="module")
def golden():
    given, out = GOLDEN["logrank"]["in"], GOLDEN["logrank"]["out"]
    features = np.array(given["x_good"] + given["x_bad"])
    return features, features @ given["w"], np.array([1.0, 1.0, 0.0, 0.0, 0.0]), out


@pytest.mark.parametrize(
    ("name", "key", "sign"),
    [
        ("logrank_mle", "closed_L1", 1),
        ("convex_loss", "closed_convex_auc", 1),
        ("exp_gain", "closed_log_expgain_auc", -1),
        ("logrank_l3", "all_auc_L3", 1),
        ("logrank_l2", "all_auc_L2", 1),
    ],
)
def test_golden_closed_forms(golden, name, key, sign):
    features, scores, labels, out = golden
    result = rp.loss(name).evaluate(scores, labels, [0, 5])
    np.testing.assert_allclose(result.value, sign * out[key], atol=2e-8)
    np.testing.assert_allclose(features.T @ result.gradient, sign * np.array(out[f"{key}_grad"]), atol=2e-8)


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize(
    ("name", "key", "sign"),
    [
        ("logrank_mle", "L1", 1),
        ("logrank_l2", "L2", 1),
        ("logrank_l3", "L3", 1),
        ("convex_loss", "Convex", 1),
        ("exp_gain", "logExpGain", -1),
    ],
)
def test_golden_sums_over_all_rankings(golden, gain, name, key, sign):
    features, scores, labels, out = golden
    rankings = [signs for signs in sign_matrices(2, 3) if comes_from_an_order(signs)]
    assert len(rankings) == out["n_valid"]
    value, gradient = over_a_set(name, rankings, scores, labels, gain)
    expected = f"valid_{gain}_{key}"
    assert value == pytest.approx(sign * out[expected], abs=2e-8)
    np.testing.assert_allclose(features.T @ gradient, sign * np.array(out[f"{expected}_grad"]), atol=2e-8)


@pytest.mark.parametrize(("goods", "bads"), [(1, 1), (1, 4), (2, 3), (3, 3)])
@pytest.mark.parametrize("name", LOSSES)
def test_closed_forms_are_sums_over_all_sign_matrices(name, goods, bads):
    good, bad = GENERATOR.normal(size=goods), GENERATOR.normal(size=bads)
    matrices = sign_matrices(goods, bads)
    exponents = np.array([-gap_in_numpy(signs, good, bad) for signs in matrices])
    expected = sums_in_numpy(exponents, np.array([delta_in_numpy(signs, "auc") for signs in matrices]))[name]
    labels = np.repeat([2.0, 0.0], [goods, bads])
    value = rp.loss(name).evaluate(np.concatenate([good, bad]), labels, [0, goods + bads]).value
    np.testing.assert_allclose(value, expected, rtol=1e-11)


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("name", LOSSES)
def test_sampled_losses_are_sums_over_the_sampled_rankings(name, gain):
    labels = np.array([0.0, 1.0, 0.0, 3.0, 0.0, 1.0])
    scores = GENERATOR.normal(size=6)
    parameters = RankingSet(gain=gain, samples=30, p_best=0.5)
    sample = sample_rankings(labels, parameters, seed=5)
    expected = sums_in_numpy(-2 * sample.inversions @ scores, sample.deltas)[name]
    reference = f"{name}[gain={gain},rankings=sampled,samples=30,p_best=0.5]"
    np.testing.assert_allclose(rp.loss(reference).evaluate(scores, labels, [0, 6], seed=5).value, expected)


@pytest.mark.parametrize(("goods", "bads", "rankings"), [(2, 2, 14), (2, 3, 46), (3, 3, 230), (2, 4, 146), (1, 4, 16)])
@pytest.mark.parametrize("branch", ["symmetric", "local"])
def test_the_walk_reaches_all_rankings_and_nothing_else(goods, bads, rankings, branch):
    """Their number is a poly-Bernoulli number."""
    valid = {tuple(inversions_of(signs)) for signs in sign_matrices(goods, bads) if comes_from_an_order(signs)}
    assert len(valid) == rankings
    labels = np.repeat([1.0, 0.0], [goods, bads])
    sample = sample_rankings(labels, RankingSet(samples=60_000, walk=2000, branch=branch, p_best=0.5))
    assert {tuple(row) for row in sample.inversions} == valid
    assert len(sample.deltas) == rankings


def test_each_step_of_the_walk_exchanges_one_pair():
    labels = GENERATOR.permutation(np.repeat([1.0, 0.0], [5, 9]))
    sample = sample_rankings(labels, RankingSet(samples=300, walk=299, distinct=False, gain="auc"))
    steps = np.diff(sample.inversions[1:], axis=0)
    assert (np.abs(steps).sum(1) == 2).all()
    assert (np.abs(steps[:, labels == 1]).sum(1) == 1).all()
    np.testing.assert_allclose(np.abs(np.diff(sample.deltas[1:])), 1 / 45)


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("discount", ["jk", "log2"])
def test_distances_kept_with_the_rankings_are_those_of_their_sign_matrices(gain, discount):
    labels = np.repeat([1.0, 0.0], [3, 3])
    by_inversions = {
        tuple(inversions_of(signs)): delta_in_numpy(signs, gain, 4, discount)
        for signs in sign_matrices(3, 3)
        if comes_from_an_order(signs)
    }
    sample = sample_rankings(labels, RankingSet(samples=2000, p_best=0.5, gain=gain, k=4, discount=discount))
    expected = [by_inversions[tuple(row)] for row in sample.inversions]
    np.testing.assert_allclose(sample.deltas, expected, atol=1e-12)


@pytest.mark.parametrize("skew", [-5.0, 0.0, 5.0])
def test_skewed_restarts_have_odds_that_grow_exponentially_with_distance(skew):
    labels = GENERATOR.permutation(np.repeat([1.0, 0.0], [12, 15]))
    sample = sample_rankings(labels, RankingSet(samples=4000, walk=0, skew=skew, distinct=False))
    targets = np.arange(11) / 10
    odds = np.exp(skew * targets) / np.exp(skew * targets).sum()
    shares = np.bincount(np.rint(sample.deltas[1:] * 10).astype(int), minlength=11) / 4000
    np.testing.assert_allclose(shares, odds, atol=0.03)


@pytest.mark.parametrize("gain", GAINS)
def test_restarts_near_one_distance(gain):
    labels = GENERATOR.permutation(np.repeat([1.0, 0.0], [6, 40]))
    sample = sample_rankings(labels, RankingSet(samples=200, walk=0, restart_at=0.5, gain=gain, distinct=False))
    assert np.median(sample.deltas[1:]) == pytest.approx(0.5, abs=0.1)
    with pytest.raises(ParameterError, match="give one of them"):
        rp.loss("convex_loss[gain=map,skew=1,restart_at=0.5]")


def test_restarts_mix_best_and_worst_in_their_share():
    sample = sample_rankings([1, 0, 0], RankingSet(samples=5000, walk=0, p_best=0.3, distinct=False))
    assert (sample.deltas[1:] == 0).mean() == pytest.approx(0.3, abs=0.03)
    assert set(sample.deltas) == {0, 1}


def test_rankings_are_drawn_once_and_of_their_seed():
    labels, starts, scores = np.tile([1.0, 0, 0, 1, 0, 0, 0, 1], 2), [0, 8, 16], GENERATOR.normal(size=16)
    bound = rp.loss("convex_loss[gain=map,samples=20]").on(labels, starts, seed=1)
    assert (bound(scores, iteration=0).value == bound(scores, iteration=9).value).all()
    other = rp.loss("convex_loss[gain=map,samples=20]").on(labels, starts, seed=2)
    assert (bound(scores).value != other(scores).value).all()
    same_scores = bound(np.tile(scores[:8], 2)).value
    assert same_scores[0] != same_scores[1]


lists = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def test_dividing_by_the_pairs_is_dividing_the_scores():
    labels, scores = np.array([1.0, 0, 0, 2, 0]), GENERATOR.normal(size=5)
    for name in ("logrank_mle", "exp_gain", "logrank_l3", "convex_loss"):
        for where in ("closed", "sampled"):
            here = rp.loss(f"{name}[rankings={where},divide_by_pairs=true]").evaluate(scores, labels, [0, 5])
            there = rp.loss(f"{name}[rankings={where}]").evaluate(scores / 6, labels, [0, 5])
            np.testing.assert_allclose(here.value, there.value)
            np.testing.assert_allclose(here.gradient, there.gradient / 6, atol=1e-14)
            np.testing.assert_allclose(here.curvature, there.curvature / 36, atol=1e-14)


def test_a_closed_form_that_does_not_exist_is_refused_in_words():
    with pytest.raises(ParameterError, match="rankings=closed needs gain=auc; there is no closed form for gain=map"):
        rp.loss("exp_gain[gain=map,rankings=closed]")


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("name", LONG)
def test_long_lists_sum_over_the_same_pairs(name, spread, monkeypatch):
    generator = np.random.default_rng(5)
    scores, labels = spread * generator.normal(size=2_400), (generator.random(2_400) < 0.3).astype(float)
    sums = rp.loss(name).evaluate(scores, labels, [0, scores.size])
    monkeypatch.setattr(LongLists, "among", lambda self, labels, starts, parameters: np.zeros(1, bool))
    pairs = rp.loss(name).evaluate(scores, labels, [0, scores.size])
    assert sums.value[0] == pytest.approx(pairs.value[0], rel=1e-10)
    np.testing.assert_allclose(sums.gradient, pairs.gradient, rtol=1e-9, atol=1e-11 * np.abs(pairs.gradient).max())
    # At large gaps curvatures are differences of nearly equal sums.
    np.testing.assert_allclose(sums.curvature, pairs.curvature, rtol=1e-9, atol=1e-11 * pairs.curvature.max())
    assert spread == 0.0 or not np.array_equal(sums.gradient, pairs.gradient)


def test_a_series_is_no_substitute_for_few_pairs():
    labels, parameters = np.zeros(5_000), rp.loss("logrank_exponential").parameters
    for goods, is_faster in ((150, False), (1_500, True)):
        labels[:goods] = 1.0
        assert EXPONENTIAL.is_faster(labels, parameters) == is_faster


def test_a_gain_that_is_nearly_0_keeps_its_digits_in_long_lists():
    scores = np.concatenate([np.full(1_200, -400.0), np.full(1_200, 400.0)])
    labels = np.repeat([1.0, 0.0], 1_200)
    found = rp.loss("exp_gain").evaluate(scores, labels, [0, scores.size])
    assert found.value[0] == pytest.approx(2.0 * 800.0, rel=1e-12)
    np.testing.assert_allclose(found.gradient, np.repeat([-2.0, 2.0], 1_200) / 1_200, rtol=1e-9)
