"""``urank`` and ``umart`` equal the paper's equations, and LambdaMART where the window is one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logsumexp

import rankplug as rp

GOLDEN = json.loads((Path(__file__).parents[2] / "golden.json").read_text())
LISTS = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        arrays(float, n, elements=st.one_of(st.floats(-5, 5), st.sampled_from([0.0, 1.0]))),
        arrays(float, n, elements=st.integers(0, 4).map(float)),
    )
)


def evaluate(name, scores, labels):
    return rp.loss(name).evaluate(scores, labels, [0, len(scores)])


def equations_5_and_6(scores, labels, window, sigma=2.0, factor=None, normalise=True, idcg_at=None):
    """Compute gradient and curvature, pair by pair and window by window."""
    n, gains = len(scores), 2.0**labels - 1
    factor = sigma**3 if factor is None else factor
    best_first = np.argsort(-scores, kind="stable")
    discounts = np.empty(n)
    discounts[best_first] = 1 / np.log2(np.arange(n) + 2)
    ideal = (np.sort(gains)[::-1] / np.log2(np.arange(n) + 2))[:idcg_at].sum()
    gradient, curvature = np.zeros(n), np.zeros(n)
    if ideal == 0:
        return gradient, curvature
    divide = normalise and scores.max() != scores.min()
    for d in range(n):
        lower = [j for j in best_first if labels[j] < labels[d]]
        width = window or max(len(lower), 1)
        for first in range(0, len(lower), width):
            rivals = lower[first : first + width]
            joint = np.logaddexp(sigma * scores[d], np.logaddexp.reduce(sigma * scores[rivals]))
            for j in rivals:
                weight = (gains[d] - gains[j]) * abs(discounts[d] - discounts[j]) / ideal
                weight /= 0.01 + abs(scores[d] - scores[j]) if divide else 1.0
                lost, own = np.exp(sigma * scores[j] - joint), np.exp(sigma * scores[d] - joint)
                gradient[d] -= sigma * weight * lost
                gradient[j] += sigma * weight * lost
                curvature[d] += factor * weight * lost * own
                curvature[j] += factor * weight * lost * (1 - lost)
    return gradient, curvature


@pytest.mark.parametrize("window", [1, 2, 10])
def test_golden_numbers(window):
    given, expected = GOLDEN[f"umart_sigma2_window{window}"]["in"], GOLDEN[f"umart_sigma2_window{window}"]["out"]
    for options, gradient, curvature in (
        ("hessian=true", "grad", "hess_true_sigma2"),
        ("hessian=released", "grad", "hess_released_code_sigma3"),
        ("hessian=true,normalise=false", "grad_no_score_norm", "hess_no_score_norm"),
    ):
        evaluation = evaluate(f"umart[window={window},{options}]", given["f"], given["y"])
        assert evaluation.gradient == pytest.approx(expected[gradient], abs=1e-8)
        assert evaluation.curvature == pytest.approx(expected[curvature], abs=1e-8)


@settings(deadline=None)
@given(LISTS, st.sampled_from([None, 1, 2, 5]), st.booleans(), st.sampled_from([None, 3]))
def test_gradient_and_curvature_are_the_equations(one_list, window, normalise, idcg_at):
    gradient, curvature = equations_5_and_6(*one_list, window, normalise=normalise, idcg_at=idcg_at)
    evaluation = evaluate(f"umart[window={window},normalise={normalise},idcg_at={idcg_at}]", *one_list)
    assert evaluation.gradient == pytest.approx(gradient, abs=1e-9)
    assert evaluation.curvature == pytest.approx(curvature, abs=1e-9)


@pytest.mark.parametrize("window", [None, 1, 3])
@pytest.mark.parametrize("spread", [200.0, 1e4])
def test_gaps_too_wide_for_one_exponential_keep_their_likelihoods(spread, window):
    generator = np.random.default_rng(1)
    scores, labels = spread * generator.normal(size=14), generator.integers(0, 4, 14).astype(float)
    scores[2], scores[9] = scores[5] + 0.3, scores[5] - 0.2
    gradient, curvature = equations_5_and_6(scores, labels, window, normalise=False)
    evaluation = evaluate(f"umart[window={window},normalise=false]", scores, labels)
    assert evaluation.gradient == pytest.approx(gradient, abs=1e-10)
    assert evaluation.curvature == pytest.approx(curvature, abs=1e-10)


@pytest.mark.parametrize("normalise", [True, False])
def test_a_window_of_one_is_todays_lambdarank_up_to_its_factor_a_list(normalise):
    generator = np.random.default_rng(4)
    scores, labels = generator.normal(size=20), generator.integers(0, 5, 20).astype(float)
    ours = evaluate(f"umart[window=1,hessian=true,normalise={normalise}]", scores, labels)
    theirs = evaluate(f"lambdarank[sigma=2,norm={normalise}]", scores, labels)
    assert ours.gradient / ours.curvature == pytest.approx(theirs.gradient / theirs.curvature, rel=1e-10)
    factors = theirs.gradient / ours.gradient
    assert factors == pytest.approx(np.full(20, factors[0]), rel=1e-10)
    assert normalise or factors[0] == pytest.approx(1.0)
    assert ours.value[0] * factors[0] == pytest.approx(theirs.value[0], rel=1e-10)


def urank(scores, labels, window="none"):
    return rp.loss(f"urank[window={window}]").evaluate(scores, labels, [0, len(scores)])


def equation_2(scores, labels, window=None):
    """Compute loss, gradient and curvature, document by document and window by window."""
    n, ratings = len(scores), len(np.unique(labels))
    value, gradient, curvature = 0.0, np.zeros(n), np.zeros(n)
    best_first = np.argsort(-scores, kind="stable")
    for d in range(n):
        lower = [j for j in best_first if labels[j] < labels[d]]
        width = window or max(len(lower), 1)
        weight = (2.0 ** labels[d] - 1) / max(ratings - 1, 1)
        for first in range(0, len(lower), width):
            rivals = lower[first : first + width]
            others = np.logaddexp.reduce(scores[rivals])
            joint = np.logaddexp(scores[d], others)
            value += weight * (joint - scores[d])
            lost, own = np.exp(others - joint), np.exp(scores[d] - joint)
            gradient[d] -= weight * lost
            curvature[d] += weight * lost * own
            shares = np.exp(scores[rivals] - joint)
            gradient[rivals] += weight * shares
            curvature[rivals] += weight * shares * (1 - shares)
    return value, gradient, curvature


def test_the_papers_example():
    given, expected = GOLDEN["urank_paper_example"]["in"], GOLDEN["urank_paper_example"]["out"]
    evaluation = urank(given["f"], given["y"])
    by_hand = -0.5 * (3 * (np.log(0.3) + np.log(4 / 11)) + np.log(2 / 7))
    assert evaluation.value[0] == pytest.approx(by_hand, abs=1e-12)
    assert evaluation.value[0] == pytest.approx(expected["loss"], abs=1e-8)
    assert evaluation.gradient == pytest.approx(expected["grad"], abs=1e-8)
    assert evaluation.curvature == pytest.approx(expected["hess_diag"], abs=1e-8)
    assert urank(given["f"], given["y"], 1).value[0] == pytest.approx(expected["loss_window1"], abs=1e-8)
    assert urank(given["f"], given["y"], 2).value[0] == pytest.approx(expected["loss_window2"], abs=1e-8)


@pytest.mark.parametrize("window", [1, 2, 3, 99])
def test_golden_windows(window):
    given, expected = GOLDEN["urank_windows"]["in"], GOLDEN["urank_windows"]["out"]
    evaluation = urank(given["f"], given["y"], window)
    assert evaluation.value[0] == pytest.approx(expected[f"loss_u{window}"], abs=1e-8)
    assert evaluation.gradient == pytest.approx(expected[f"grad_u{window}"], abs=1e-8)


@settings(deadline=None)
@given(LISTS, st.sampled_from([None, 1, 2, 5]))
def test_loss_gradient_and_curvature_are_equation_2(one_list, window):
    value, gradient, curvature = equation_2(*one_list, window)
    evaluation = urank(*one_list, window)
    assert evaluation.value[0] == pytest.approx(value, rel=1e-10, abs=1e-10)
    assert evaluation.gradient == pytest.approx(gradient, abs=1e-9)
    assert evaluation.curvature == pytest.approx(curvature, abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_fractional_labels_without_ties_are_equation_2(seed):
    generator = np.random.default_rng(seed)
    scores, labels = generator.normal(size=12), 4 * generator.random(12)
    value, gradient, curvature = equation_2(scores, labels)
    evaluation = urank(scores, labels)
    assert evaluation.value[0] == pytest.approx(value, rel=1e-10)
    assert evaluation.gradient == pytest.approx(gradient, abs=1e-9)
    assert evaluation.curvature == pytest.approx(curvature, abs=1e-9)


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("spread", [300.0, 1e5])
def test_gaps_that_overflow_the_printed_algorithm_are_exact(spread, window):
    generator = np.random.default_rng(1)
    scores, labels = spread * generator.normal(size=14), generator.integers(0, 4, 14).astype(float)
    scores[2], scores[9] = scores[5] + 0.3, scores[5] - 0.2
    value, gradient, curvature = equation_2(scores, labels, window)
    evaluation = urank(scores, labels, window)
    assert evaluation.value[0] == pytest.approx(value, rel=1e-12)
    assert evaluation.gradient == pytest.approx(gradient, abs=1e-10)
    assert evaluation.curvature == pytest.approx(curvature, abs=1e-10)


def test_without_ties_the_terms_are_those_of_listmle():
    generator = np.random.default_rng(2)
    scores, labels = generator.normal(size=5), np.array([3.0, 1.0, 4.0, 0.0, 2.0])
    ordered = scores[np.argsort(-labels)]
    terms = [logsumexp(ordered[position:]) - ordered[position] for position in range(4)]
    weights = 2.0 ** np.array([4, 3, 2, 1]) - 1
    assert urank(scores, labels).value[0] == pytest.approx(weights @ terms / 4, rel=1e-12)
