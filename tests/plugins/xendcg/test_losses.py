"""``xe_ndcg`` and ``listnet`` equal the paper's definitions, their steps its matrices, and gammas LightGBM's."""

from __future__ import annotations

import json
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rankplug_xendcg.losses import COUNTER, LIGHTGBM, ONCE, PER_ITERATION, cross_entropy_with_step, fill_gamma
from scipy import stats
from scipy.special import logsumexp, softmax

import rankplug as rp
from rankplug.compiled import key_of

GOLDEN = json.loads((Path(__file__).parents[2] / "golden.json").read_text())
STEPS = ("series", "exact", "diagonal")
LISTS = st.integers(2, 25).flatmap(
    lambda n: st.tuples(
        arrays(float, n, elements=st.floats(-6, 6)), arrays(float, n, elements=st.integers(0, 4).map(float))
    )
)


def with_step(scores, target, eps=0.0, step="series", newton=True):
    scores = np.asarray(scores, float)
    gradient, curvature = np.empty(scores.size), np.empty(scores.size)
    value = cross_entropy_with_step(scores, np.asarray(target), gradient, curvature, eps, STEPS.index(step), newton)
    return value, gradient, curvature


def random_list(seed, documents):
    generator = np.random.default_rng(seed)
    return generator.normal(size=documents), generator.dirichlet(np.ones(documents))


def hessian(scores, eps):
    rho = np.exp(scores) / (np.exp(scores).sum() + eps)
    return np.diag(rho) - np.outer(rho, rho), rho


def golden_target(key="xendcg"):
    given = GOLDEN["xendcg"]["in"]
    target = 2.0 ** np.array(given["y"]) - given["gamma"]
    return np.array(given["f"]), target / target.sum(), GOLDEN[key]["out"]


def test_golden_loss_gradient_curvature_and_step():
    scores, target, expected = golden_target()
    assert target == pytest.approx(expected["phi"], abs=1e-8)
    value, gradient, curvature = with_step(scores, target, newton=False)
    assert value == pytest.approx(expected["loss"], abs=1e-8)
    assert gradient == pytest.approx(expected["grad"], abs=1e-8)
    assert curvature == pytest.approx(expected["hess_diag"], abs=1e-8)
    _, handed_over, curvature = with_step(scores, target)
    assert handed_over == pytest.approx(expected["gbdt_gradient"], abs=1e-8)
    assert handed_over / curvature == pytest.approx(expected["newton_step_3term"], abs=1e-8)


def test_golden_step_with_eps():
    scores, target, expected = golden_target("xendcg_eps1e-3")
    value, handed_over, curvature = with_step(scores, target, eps=1e-3)
    assert value == pytest.approx(expected["loss"], abs=1e-8)
    assert handed_over == pytest.approx(expected["gbdt_gradient"], abs=1e-8)
    assert curvature == pytest.approx(expected["hess_diag"], abs=1e-8)
    _, handed_over, curvature = with_step(scores, target, eps=1e-3, step="exact")
    assert handed_over / curvature == pytest.approx(expected["exact_newton"], abs=1e-8)


def test_golden_listnet():
    given, expected = GOLDEN["listnet_top1"]["in"], GOLDEN["listnet_top1"]["out"]
    evaluation = rp.loss("listnet").evaluate(given["f"], given["y"], [0, 4])
    assert evaluation.value[0] == pytest.approx(expected["loss"], abs=1e-8)
    assert evaluation.gradient == pytest.approx(expected["grad"], abs=1e-8)
    assert evaluation.curvature == pytest.approx(expected["hess_diag"], abs=1e-8)
    evaluation = rp.loss("listnet").evaluate([0.5, 0.1, -0.3, 0.2], [2, 1, 0, 0], [0, 4])
    assert evaluation.value[0] == pytest.approx(1.231645, abs=1e-6)
    assert evaluation.gradient == pytest.approx([-0.260702, 0.009824, 0.074488, 0.176391], abs=1e-6)


@settings(deadline=None)
@given(LISTS, st.sampled_from([0.0, 0.5, 1.0]))
def test_xe_ndcg_with_a_fixed_gamma_is_definition_1(one_list, gamma):
    scores, labels = one_list
    masses = np.maximum(2.0**labels - gamma, 0)
    target = masses / max(masses.sum(), 1e-15)
    evaluation = rp.loss(f"xe_ndcg[gamma={gamma}]").evaluate(scores, labels, [0, scores.size])
    if masses.sum() > 0:
        assert evaluation.value[0] == pytest.approx(-target @ (scores - logsumexp(scores)), abs=1e-10)
    assert evaluation.gradient == pytest.approx(softmax(scores) - target, abs=1e-12)


@settings(deadline=None)
@given(LISTS)
def test_listnet_compares_softmax_with_softmax(one_list):
    scores, labels = one_list
    evaluation = rp.loss("listnet").evaluate(scores, labels, [0, scores.size])
    assert evaluation.value[0] == pytest.approx(-softmax(labels) @ (scores - logsumexp(scores)), abs=1e-10)
    assert evaluation.gradient == pytest.approx(softmax(scores) - softmax(labels), abs=1e-12)


@pytest.mark.parametrize("eps", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("documents", [2, 3, 10])
def test_the_series_is_three_terms_of_the_matrix_expression(eps, documents):
    scores, target = random_list(documents, documents)
    matrix, rho = hessian(scores, eps)
    diagonal = np.diag(np.diag(matrix))
    remainder = np.eye(documents) - np.linalg.solve(diagonal, matrix)
    assert remainder == pytest.approx((1 - np.eye(documents)) * rho / (1 - rho)[:, None])
    terms = np.eye(documents) + remainder + remainder @ remainder
    _, handed_over, curvature = with_step(scores, target, eps=eps)
    assert handed_over / curvature == pytest.approx(terms @ np.linalg.solve(diagonal, rho - target), rel=1e-10)


@pytest.mark.parametrize("documents", [2, 5, 40])
def test_the_exact_step_solves_the_newton_equations(documents):
    scores, target = random_list(documents, documents)
    matrix, rho = hessian(scores, 0.0)
    _, handed_over, curvature = with_step(scores, target, step="exact")
    assert handed_over / curvature == pytest.approx(np.linalg.pinv(matrix) @ (rho - target), rel=1e-8)
    matrix, rho = hessian(scores, 0.1)
    _, handed_over, curvature = with_step(scores, target, eps=0.1, step="exact")
    assert handed_over / curvature == pytest.approx(np.linalg.solve(matrix, rho - target), rel=1e-8)


def test_for_two_documents_three_terms_give_twice_the_newton_step():
    scores, target = random_list(1, 2)
    steps = {}
    for step in ("series", "exact"):
        _, handed_over, curvature = with_step(scores, target, step=step)
        steps[step] = handed_over / curvature
        steps[step] -= steps[step].mean()
    assert steps["series"] == pytest.approx(2 * steps["exact"])


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("eps", [0.0, 1e-3])
@pytest.mark.parametrize("shift", [0.0, -1e6])
def test_saturated_scores_give_finite_steps(step, eps, shift):
    """One document takes all the probability, and one minus it must not become 0."""
    scores = np.array([1000.0, 0.0, 37.0, -1000.0]) + shift
    for result in with_step(scores, [0.1, 0.4, 0.5, 0.0], eps=eps, step=step):
        assert np.isfinite(result).all()
    assert np.all(with_step(scores, [0.1, 0.4, 0.5, 0.0], eps=eps, step=step)[2] >= 1e-16)


def test_the_share_left_to_the_others_is_added_up_where_subtraction_would_lose_it():
    """The others share 1e-13 at a gap of 30; one minus the largest probability has three digits of that."""
    scores, target = np.array([30.0, 0.0, 0.5]), np.array([0.5, 0.25, 0.25])
    _, _, curvature = with_step(scores, target)
    rest = np.exp(scores[1:] - 30).sum() / np.exp(scores - 30).sum()
    assert curvature[0] == pytest.approx(rest * np.exp(0) / np.exp(scores - 30).sum(), rel=1e-14)


def test_only_boosting_engines_get_the_step_and_everyone_else_the_gradient():
    scores, labels = np.array([0.5, 0.1, -0.3, 0.2]), np.array([2.0, 1.0, 0.0, 0.0])
    plain = {step: rp.loss(f"xe_ndcg[step={step}]").evaluate(scores, labels, [0, 4]) for step in STEPS}
    newton = {step: rp.loss(f"xe_ndcg[step={step}]").evaluate(scores, labels, [0, 4], step="newton") for step in STEPS}
    for step in STEPS:
        assert (plain[step].gradient == plain["diagonal"].gradient).all()
        assert (newton[step].curvature == plain["diagonal"].curvature).all()
    assert (newton["diagonal"].gradient == plain["diagonal"].gradient).all()
    assert len({tuple(newton[step].gradient) for step in STEPS}) == 3


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
