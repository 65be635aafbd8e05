"""The losses equal the paper's formulas, pair by pair, and noise on the scores follows its laws; golden numbers too."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.special import expit, log_softmax, softmax

import rankplug as rp
from rankplug import SamplerSpecification
from rankplug.compiled import key_of
from rankplug.registry import registry
from rankplug.samplers import list_sampler, sampler

GOLDEN = json.loads((Path(__file__).parents[2] / "golden.json").read_text())
LISTS = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        arrays(float, n, elements=st.one_of(st.floats(-5, 5), st.sampled_from([0.0, 1.0, -1.0]))),
        arrays(float, n, elements=st.integers(0, 4).map(float)),
    )
)


def evaluate(name, scores, labels, **options):
    return rp.loss(name).evaluate(scores, labels, [0, len(scores)], **options)


def approx_ndcg_by_pairs(scores, labels, eta):
    n, gains = len(scores), 2.0**labels - 1
    ideal = (np.sort(gains)[::-1] / np.log2(np.arange(n) + 2)).sum()
    if ideal == 0:
        return 0.0, np.zeros(n)
    beaten = expit(eta * (scores[None] - scores[:, None]))
    np.fill_diagonal(beaten, 0.0)
    ranks = 1 + beaten.sum(1)
    slopes = gains / ideal * np.log(2) / ((1 + ranks) * np.log(1 + ranks) ** 2)
    weights = eta * beaten * (1 - beaten)
    return -(gains / np.log2(1 + ranks)).sum() / ideal, weights @ slopes - slopes * weights.sum(1)


def lambdarank_by_pairs(scores, labels, sigma, norm=False, truncation=None):
    n, gains = len(scores), 2.0**labels - 1
    deepest = n if truncation is None else truncation
    order = np.argsort(-scores, kind="stable")
    rank = np.empty(n, int)
    rank[order] = np.arange(n)
    ideal = (np.sort(gains)[::-1] / np.log2(np.arange(n) + 2))[:deepest].sum()
    gradient, curvature, value, pushes = np.zeros(n), np.zeros(n), 0.0, 0.0
    for i in range(n):
        for j in range(n):
            if labels[i] <= labels[j] or min(rank[i], rank[j]) >= deepest or ideal == 0:
                continue
            gap = scores[i] - scores[j]
            weight = abs((gains[i] - gains[j]) * (1 / np.log2(2 + rank[i]) - 1 / np.log2(2 + rank[j]))) / ideal
            if norm and scores.max() != scores.min():
                weight /= 0.01 + abs(gap)
            p = expit(-sigma * gap)
            gradient[i] -= sigma * weight * p
            gradient[j] += sigma * weight * p
            curvature[[i, j]] += sigma**2 * weight * p * (1 - p)
            value += weight * np.logaddexp(0, -sigma * gap)
            pushes += 2 * sigma * weight * p
    scale = np.log2(1 + pushes) / pushes if norm and pushes > 0 else 1.0
    return value * scale, gradient * scale, curvature * scale


def long_list(spread, levels=5, documents=2_800):
    generator = np.random.default_rng(documents + levels)
    scores = {
        "normal": generator.normal(size=documents),
        "tied": generator.integers(-9, 10, documents) * 0.2,
        "wide": 300.0 * generator.normal(size=documents) + 1e4,
        "equal": np.full(documents, 0.3),
    }[spread]
    return scores, generator.integers(0, levels, documents).astype(float)


def lambdarank_over_the_square(scores, labels, sigma):
    """Return what :func:`lambdarank_by_pairs` does, for long lists: from whole matrices of pairs."""
    n, gains = len(scores), 2.0**labels - 1
    rank = np.empty(n, int)
    rank[np.argsort(-scores, kind="stable")] = np.arange(n)
    discounts = 1 / np.log2(2 + rank)
    ideal = (np.sort(gains)[::-1] / np.log2(np.arange(n) + 2)).sum()
    gaps = scores[:, None] - scores[None, :]
    weights = np.abs((gains[:, None] - gains[None, :]) * (discounts[:, None] - discounts[None, :])) / ideal
    weights *= labels[:, None] > labels[None, :]
    p = expit(-sigma * gaps)
    pushes, curves = sigma * weights * p, sigma**2 * weights * p * (1 - p)
    value = (weights * np.logaddexp(0, -sigma * gaps)).sum()
    return value, pushes.sum(0) - pushes.sum(1), curves.sum(0) + curves.sum(1)


@pytest.mark.parametrize("spread", ["normal", "tied", "wide", "equal"])
@pytest.mark.parametrize("levels", [2, 5])
def test_lambdarank_of_a_long_list_is_its_square_of_pairs(levels, spread):
    scores, labels = long_list(spread, levels)
    value, gradient, curvature = lambdarank_over_the_square(scores, labels, 2.0)
    found = evaluate("lambdarank[sigma=2]", scores, labels)
    assert found.value[0] == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-9, atol=1e-11 * np.abs(gradient).max())
    np.testing.assert_allclose(found.curvature, curvature, rtol=1e-9, atol=1e-11 * max(np.abs(curvature).max(), 1e-9))


@pytest.mark.parametrize("spread", ["normal", "tied", "wide", "equal"])
def test_approx_ndcg_of_a_long_list_is_its_square_of_pairs(spread):
    scores, labels = long_list(spread)
    value, gradient = approx_ndcg_by_pairs(scores, labels, 3.0)
    found = evaluate("approx_ndcg[eta=3]", scores, labels)
    assert found.value[0] == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-9, atol=1e-11 * np.abs(gradient).max())


@pytest.mark.parametrize(
    ("key", "name", "curvature"),
    [
        ("cross_entropy_linear_labels", "cross_entropy", "hess_diag"),
        ("approx_ndcg_eta10", "approx_ndcg[eta=10]", None),
        ("lambdamart_sigma2_norm_false_no_truncation", "lambdarank[sigma=2]", "hess"),
    ],
)
def test_golden_numbers(key, name, curvature):
    given_list, expected = GOLDEN[key]["in"], GOLDEN[key]["out"]
    evaluation = evaluate(name, given_list["f"], given_list["y"])
    assert evaluation.value[0] == pytest.approx(expected["loss"], abs=1e-8)
    assert evaluation.gradient == pytest.approx(expected["grad"], abs=1e-8)
    assert evaluation.curvature == pytest.approx(expected[curvature] if curvature else np.ones(4), abs=1e-8)


@settings(deadline=None)
@given(LISTS, st.booleans())
def test_cross_entropy_is_that_of_label_shares_and_softmax(one_list, weighted):
    scores, labels = one_list
    mass = labels.sum()
    evaluation = evaluate(f"cross_entropy[weight_by_label_sum={weighted}]", scores, labels)
    if mass == 0:
        assert evaluation.value[0] == 0 and not evaluation.gradient.any()
        return
    scale, rho = mass if weighted else 1.0, softmax(scores)
    assert evaluation.value[0] == pytest.approx(-scale * (labels / mass) @ log_softmax(scores), abs=1e-10)
    assert evaluation.gradient == pytest.approx(scale * (rho - labels / mass), abs=1e-10)
    assert evaluation.curvature == pytest.approx(scale * rho * (1 - rho), abs=1e-10)


@settings(deadline=None)
@given(LISTS, st.sampled_from([0.3, 10.0, 1000.0]))
def test_approx_ndcg_is_equation_15_pair_by_pair(one_list, eta):
    scores, labels = one_list
    value, gradient = approx_ndcg_by_pairs(scores, labels, eta)
    evaluation = evaluate(f"approx_ndcg[eta={eta}]", scores, labels)
    assert evaluation.value[0] == pytest.approx(value, abs=1e-10)
    assert evaluation.gradient == pytest.approx(gradient, abs=1e-9 * eta)


def test_steep_approx_ndcg_is_minus_ndcg():
    generator = np.random.default_rng(0)
    scores, labels = generator.permutation(20) / 10, generator.integers(0, 5, 20).astype(float)
    evaluation = evaluate("approx_ndcg[eta=100000]", scores, labels)
    assert evaluation.value[0] == pytest.approx(-rp.metric("ndcg[k=none]")(scores, labels, [0, 20])[0], abs=1e-12)


@settings(deadline=None)
@given(LISTS, st.sampled_from([0.5, 2.0]), st.booleans(), st.sampled_from([None, 1, 3, 10]))
def test_lambdarank_is_equation_23_pair_by_pair(one_list, sigma, norm, truncation):
    scores, labels = one_list
    value, gradient, curvature = lambdarank_by_pairs(scores, labels, sigma, norm, truncation)
    name = f"lambdarank[sigma={sigma},norm={norm},truncation={truncation}]"
    evaluation = evaluate(name, scores, labels)
    assert evaluation.value[0] == pytest.approx(value, abs=1e-9)
    assert evaluation.gradient == pytest.approx(gradient, abs=1e-9)
    assert evaluation.curvature == pytest.approx(curvature, abs=1e-9)


@pytest.mark.parametrize("spread", [100.0, 1e3, 1e5])
def test_gaps_too_wide_for_one_exponential_keep_their_sigmoids(spread):
    generator = np.random.default_rng(1)
    scores, labels = spread * generator.normal(size=25), generator.integers(0, 5, 25).astype(float)
    scores[3], scores[7] = scores[5] + 0.1, scores[5] - 0.2
    value, gradient, curvature = lambdarank_by_pairs(scores, labels, 2.0)
    evaluation = evaluate("lambdarank[sigma=2]", scores, labels)
    assert evaluation.value[0] == pytest.approx(value, rel=1e-12)
    assert evaluation.gradient == pytest.approx(gradient, abs=1e-12)
    assert evaluation.curvature == pytest.approx(curvature, abs=1e-12)
    value, gradient = approx_ndcg_by_pairs(scores, labels, 10.0)
    evaluation = evaluate("approx_ndcg", scores, labels)
    assert evaluation.value[0] == pytest.approx(value, rel=1e-12)
    assert evaluation.gradient == pytest.approx(gradient, abs=1e-12)


def test_the_value_of_lambdarank_has_its_gradient_when_the_weights_are_held_fixed():
    """Within one order and one layout of labels the weights do not move, so differences see the sigmoids alone."""
    generator = np.random.default_rng(2)
    scores, labels = generator.permutation(9) / 3.0, generator.integers(0, 5, 9).astype(float)
    evaluation = evaluate("lambdarank[sigma=2]", scores, labels)
    for document in range(9):
        moved = np.tile(scores, (2, 1))
        moved[:, document] += 1e-6, -1e-6
        above, below = (evaluate("lambdarank[sigma=2]", row, labels).value[0] for row in moved)
        assert (above - below) / 2e-6 == pytest.approx(evaluation.gradient[document], abs=1e-7)


UNIFORMS = np.array(GOLDEN["stochastic_beta1.0"]["in"]["U"])
FIRST_KEY = key_of(0, 0, 0, 1)


@list_sampler
def given_uniforms(scores, key, perturbed, beta):
    """Perturb by the two draws of the golden numbers, told apart by the keys of the first and second sample."""
    sample = 0 if key == FIRST_KEY else 1
    for i in range(scores.size):
        perturbed[i] = scores[i] - beta * np.log(-np.log(UNIFORMS[sample, i]))
    return 1.0


class GivenUniforms(rp.Parameters):
    """Parameters of ``given_uniforms``."""

    beta: float
    samples: int = 2


@pytest.fixture(scope="module", autouse=True)
def given_uniforms_by_name():
    """Register the sampler for this module."""
    specification = SamplerSpecification(
        name="given_uniforms", summary="golden", implementation=given_uniforms, parameters=GivenUniforms
    )
    registry().add(specification)


@pytest.mark.parametrize("beta", [1.0, 0.25])
@pytest.mark.parametrize(
    ("loss", "prefix"), [("cross_entropy", "E_xe"), ("approx_ndcg", "E_approx"), ("lambdarank[sigma=2]", "E_lambda")]
)
def test_expected_losses_have_the_golden_numbers(beta, loss, prefix):
    golden = GOLDEN[f"stochastic_beta{beta}"]
    evaluation = rp.loss(loss).evaluate(
        golden["in"]["f"], golden["in"]["y"], [0, 4], sampler=f"given_uniforms[beta={beta}]"
    )
    assert evaluation.value[0] == pytest.approx(golden["out"][prefix], abs=1e-8)
    assert evaluation.gradient == pytest.approx(golden["out"][f"{prefix}_grad"], abs=1e-8)
    if f"{prefix}_hess" in golden["out"]:
        assert evaluation.curvature == pytest.approx(golden["out"][f"{prefix}_hess"], abs=1e-8)


@pytest.mark.parametrize("beta", [1.0, 0.25])
def test_draws_are_the_golden_log_probabilities(beta):
    golden = GOLDEN[f"stochastic_beta{beta}"]
    draws = sampler(f"given_uniforms[beta={beta}]").draw(golden["in"]["f"], [0, 4])
    np.testing.assert_allclose(draws, golden["out"]["log_yhat"], atol=1e-8)


@pytest.mark.parametrize("beta", [0.25, 1.0, 2.0])
def test_sorting_gumbel_noise_draws_from_the_plackett_luce_law(beta):
    """Chi-square over all orders of three documents; the temperature tau does not matter to it."""
    scores, number = np.array([0.4, -0.3, 0.1]), 200_000
    draws = sampler(f"gumbel[beta={beta},samples={number},tau=3]").draw(scores, [0, 3], seed=1)
    codes = np.argsort(-draws, axis=1) @ [9, 3, 1]
    weights = np.exp(scores / beta)
    observed, expected = [], []
    for order in itertools.permutations(range(3)):
        first, second, third = weights[list(order)]
        expected.append(number * first / weights.sum() * second / (second + third))
        observed.append(np.sum(codes == np.array(order) @ [9, 3, 1]))
    assert stats.chisquare(observed, expected).pvalue > 1e-3


@pytest.mark.parametrize(
    ("name", "law"), [("gumbel", stats.gumbel_r), ("logistic", stats.logistic), ("gaussian", stats.norm)]
)
def test_noise_has_the_law_of_its_name_with_scale_beta_and_temperature_tau(name, law):
    """Differences from a document whose score outweighs all others, so that the normalisation falls out."""
    scores = np.array([0.0, 0.5])
    draws = sampler(f"{name}[beta=0.7,samples=60000,tau=2]").draw(scores, [0, 2], seed=2)
    differences = 2 * (draws[:, 1] - draws[:, 0])
    generator = np.random.default_rng(0)
    expected = 0.5 + 0.7 * (law.rvs(size=60000, random_state=generator) - law.rvs(size=60000, random_state=generator))
    assert stats.ks_2samp(differences, expected).pvalue > 1e-3
    assert np.exp(draws).sum(1) == pytest.approx(np.ones(60000))


def test_noise_is_drawn_anew_by_iteration_and_list_and_repeated_by_seed():
    noise = sampler("gumbel[samples=2]")
    draw = noise.draw(np.zeros(8), [0, 4, 8], seed=1, iteration=0)
    assert (draw == noise.draw(np.zeros(8), [0, 4, 8], seed=1, iteration=0)).all()
    for other in (
        noise.draw(np.zeros(8), [0, 4, 8], seed=2, iteration=0),
        noise.draw(np.zeros(8), [0, 4, 8], seed=1, iteration=1),
        draw[::-1],
        np.roll(draw, 4, axis=1),
    ):
        assert not (draw == other).any()


def test_one_document_has_probability_one_and_equal_scores_a_uniform_order():
    draws = sampler("gumbel[samples=30000]").draw(np.zeros(4), [0, 1, 4])
    assert not draws[:, 0].any()
    counts = np.bincount(draws[:, 1:].argmax(1), minlength=3)
    assert stats.chisquare(counts).pvalue > 1e-3


def test_the_gradient_of_expected_cross_entropy_is_the_mean_of_draws_less_the_shares():
    scores, labels = np.array([0.3, -1.0, 0.4]), np.array([2.0, 0.0, 1.0])
    noise = "gumbel[beta=0.5,samples=5]"
    draws = sampler(noise).draw(scores, [0, 3], seed=4, iteration=6)
    evaluation = rp.loss("cross_entropy").evaluate(scores, labels, [0, 3], sampler=noise, seed=4, iteration=6)
    assert evaluation.gradient == pytest.approx(np.exp(draws).mean(0) - labels / 3, abs=1e-12)


@pytest.mark.parametrize("loss", ["cross_entropy", "approx_ndcg", "lambdarank[sigma=2]"])
def test_gaps_of_a_thousand_stay_ordered_and_finite_under_noise(loss):
    scores, labels = np.array([1e3, -1e3, 0.0, 10.0]), np.array([3.0, 0.0, 1.0, 2.0])
    draws = sampler("gumbel[samples=8]").draw(scores, [0, 4])
    assert (draws.argsort(1) == [1, 2, 3, 0]).mean() > 0.99
    evaluation = rp.loss(loss).evaluate(scores, labels, [0, 4], sampler="gumbel[samples=8]")
    for part in evaluation:
        assert np.isfinite(part).all()
