"""Noise on the scores follows the laws of the paper, and expected losses are what its Sections 3 and 4 derive."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import rankplug as rp
from rankplug import SamplerSpecification
from rankplug.compiled import key_of
from rankplug.registry import registry
from rankplug.samplers import list_sampler, sampler

GOLDEN = json.loads((Path(__file__).parents[2] / "golden.json").read_text())
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
