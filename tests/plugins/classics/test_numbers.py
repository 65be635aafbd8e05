"""Values of the classic losses against golden numbers, plain NumPy, enumeration and scikit-learn."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from scipy.stats import norm

import rankplug as rp

GOLDEN = json.loads((Path(__file__).parents[2] / "golden.json").read_text())
GENERATOR = np.random.default_rng(8)


def evaluate(name: str, scores, labels, **given):
    return rp.loss(name).evaluate(scores, labels, [0, len(labels)], **given)


def random_list(documents: int, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    labels = GENERATOR.integers(0, 5, documents).astype(float)
    labels[:2] = 4, 0
    return spread * GENERATOR.normal(size=documents), labels


def pairs_of(labels) -> list[tuple[int, int]]:
    return [(i, j) for i in range(len(labels)) for j in range(len(labels)) if labels[i] > labels[j]]


@pytest.mark.parametrize(
    ("name", "key", "scale"),
    [
        ("listmle", "listmle", 1),
        ("listmle[ties=stable]", "listmle", 1),
        ("p_listmle[alpha=raw]", "p_listmle_weights_2^(n-i)-1", 1),
        ("p_listmle", "p_listmle_weights_2^(n-i)-1", 1 / 16),
        ("ranknet", "ranknet_sum_sigma1", 1),
        ("ranknet[mean=true]", "ranknet_sum_sigma1", 1 / 6),
        ("ranksvm", "ranksvm_hinge_sum", 1),
        ("lambdaloss[mu=10,sigma=1]", "lambdaloss_ndcg2pp_mu10_sigma1_log2", 1),
    ],
)
def test_golden_numbers(name, key, scale) -> None:
    golden = GOLDEN[key]
    result = evaluate(name, golden["in"]["f"], golden["in"]["y"])
    np.testing.assert_allclose(result.value, scale * golden["out"]["loss"], atol=2e-8)
    np.testing.assert_allclose(result.gradient, scale * np.array(golden["out"]["grad"]), atol=2e-8)
    if "hess_diag" in golden["out"]:
        np.testing.assert_allclose(result.curvature, scale * np.array(golden["out"]["hess_diag"]), atol=2e-8)


def hinges_of_all_pairs(scores, labels, margin, power) -> tuple[float, np.ndarray, np.ndarray]:
    """Return value, gradient and number of active pairs from the whole square of pairs."""
    gaps = margin - scores[:, None] + scores[None, :]
    hinges = np.where((labels[:, None] > labels[None, :]) & (gaps > 0), gaps, 0.0)
    active = (hinges > 0).astype(float)
    slopes = power * hinges ** (power - 1) * active
    return (hinges**power).sum(), slopes.sum(axis=0) - slopes.sum(axis=1), active.sum(axis=0) + active.sum(axis=1)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("margin", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("spread", ["normal", "tied", "wide"])
@pytest.mark.parametrize("kind", ["five labels", "one label", "all different", "fractions"])
def test_ranksvm_from_the_order_is_that_of_all_pairs(kind, spread, margin, power) -> None:
    for documents in (250, 257, 900):
        labels = {
            "five labels": GENERATOR.integers(0, 5, documents).astype(float),
            "one label": np.ones(documents),
            "all different": GENERATOR.permutation(documents).astype(float),
            "fractions": GENERATOR.integers(0, 9, documents) / 7,
        }[kind]
        scores = {
            "normal": GENERATOR.normal(size=documents),
            "tied": GENERATOR.integers(-6, 7, documents) * 0.1,
            "wide": 1e4 * GENERATOR.normal(size=documents) + 1e6,
        }[spread]
        value, gradient, active = hinges_of_all_pairs(scores, labels, margin, power)
        evaluation = evaluate(f"ranksvm[margin={margin},squared={str(power == 2).lower()}]", scores, labels)
        np.testing.assert_allclose(evaluation.value, value, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(
            evaluation.gradient, gradient, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(gradient).max())
        )
        np.testing.assert_array_equal(evaluation.curvature, power * active)


def logistic_losses_of_all_pairs(scores, labels, sigma) -> tuple[float, np.ndarray, np.ndarray]:
    """Return value, gradient and curvature from the whole square of pairs."""
    gaps = sigma * (scores[:, None] - scores[None, :])
    counts = labels[:, None] > labels[None, :]
    lost = np.where(counts, expit(-gaps), 0.0)
    bends = np.where(counts, expit(-gaps) * expit(gaps), 0.0)
    value = np.logaddexp(0.0, -gaps)[counts].sum()
    gradient = sigma * (lost.sum(axis=0) - lost.sum(axis=1))
    return value, gradient, sigma * sigma * (bends.sum(axis=0) + bends.sum(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 9.0])
@pytest.mark.parametrize("levels", [1, 5])
def test_ranknet_of_a_long_list_is_that_of_all_pairs(levels, spread) -> None:
    labels = GENERATOR.integers(0, levels, 2_100).astype(float)
    scores = 1e3 + spread * GENERATOR.normal(size=labels.size)
    evaluation = evaluate("ranknet[sigma=1.5]", scores, labels)
    rounding = 1e-13 * labels.size
    for ours, expected in zip(evaluation, logistic_losses_of_all_pairs(scores, labels, 1.5), strict=True):
        largest = np.abs(expected).max()
        np.testing.assert_allclose(ours, np.broadcast_to(expected, ours.shape), rtol=0, atol=1e-12 * largest + rounding)
    pairs = (labels[:, None] > labels[None, :]).sum()
    mean = evaluate("ranknet[sigma=1.5,mean=true]", scores, labels)
    np.testing.assert_allclose(mean.value * max(pairs, 1), evaluation.value, rtol=1e-12)


def test_rankboost_is_the_sum_of_exponentials_over_pairs() -> None:
    scores, labels = random_list(25)
    gradient, curvature, value = np.zeros(25), np.zeros(25), 0.0
    for i, j in pairs_of(labels):
        weight = math.exp(scores[j] - scores[i])
        value += weight
        gradient[[i, j]] += -weight, weight
        curvature[[i, j]] += weight
    result = evaluate("rankboost", scores, labels)
    np.testing.assert_allclose(result.value, value)
    np.testing.assert_allclose(result.gradient, gradient, atol=1e-11)
    np.testing.assert_allclose(result.curvature, curvature, atol=1e-11)


def test_rankboost_within_a_list_has_weights_that_add_up_to_one() -> None:
    scores, labels = random_list(25)
    exponents = {pair: -(scores[pair[0]] - scores[pair[1]]) for pair in pairs_of(labels)}
    total = logsumexp(list(exponents.values()))
    gradient, curvature = np.zeros(25), np.zeros(25)
    for (i, j), exponent in exponents.items():
        share = math.exp(exponent - total)
        gradient[i] -= share
        gradient[j] += share
        curvature[[i, j]] += share
    result = evaluate("rankboost[pairs=list]", scores, labels)
    np.testing.assert_allclose(result.value, total - math.log(len(exponents)))
    np.testing.assert_allclose(result.gradient, gradient, atol=1e-14)
    np.testing.assert_allclose(result.curvature, curvature, atol=1e-14)


def lambdaloss_in_numpy(scores, labels, variant, mu, sigma) -> float:
    discount = lambda rank: np.log2(1 + rank)  # noqa: E731
    ranks = np.empty(len(labels), int)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(labels) + 1)
    ideal = (np.sort(2**labels - 1)[::-1] / discount(np.arange(1, len(labels) + 1))).sum()
    gains = (2**labels - 1) / ideal
    total = 0.0
    for i, j in itertools.permutations(range(len(labels)), 2):
        loss = np.log2(1 + np.exp(-sigma * (scores[i] - scores[j])))
        apart = abs(ranks[i] - ranks[j])
        delta = abs(1 / discount(apart) - 1 / discount(apart + 1))
        rho = abs(1 / discount(ranks[i]) - 1 / discount(ranks[j]))
        if variant == "ndcg1":
            total += gains[i] / discount(ranks[i]) * loss
        elif labels[i] > labels[j]:
            weight = {"ndcg2": delta, "ndcg2pp": rho + mu * delta}[variant]
            total += weight * (gains[i] - gains[j]) * loss
    return total


@pytest.mark.parametrize("variant", ["ndcg1", "ndcg2", "ndcg2pp"])
def test_lambdaloss_is_its_formula(variant) -> None:
    scores, labels = random_list(18)
    expected = lambdaloss_in_numpy(scores, labels, variant, 3.0, 1.5)
    result = evaluate(f"lambdaloss[variant={variant},mu=3,sigma=1.5]", scores, labels)
    np.testing.assert_allclose(result.value, expected, rtol=1e-12)


def ndcg1_of_all_pairs(scores, labels, sigma) -> tuple[float, np.ndarray, np.ndarray]:
    """Return value, gradient and curvature from the whole square of pairs."""
    gaps, ranks = sigma * (scores[:, None] - scores[None, :]), np.argsort(np.argsort(-scores, kind="stable"))
    discounts = 1.0 / np.log2(2.0 + np.arange(labels.size))
    weights = (2**labels - 1) * discounts[ranks] / ((2 ** np.sort(labels)[::-1] - 1) @ discounts)
    pairs = weights[:, None] * ~np.eye(labels.size, dtype=bool) / math.log(2)
    lost, bends = pairs * expit(-gaps), pairs * expit(-gaps) * expit(gaps)
    gradient = sigma * (lost.sum(axis=0) - lost.sum(axis=1))
    return (pairs * np.logaddexp(0.0, -gaps)).sum(), gradient, sigma * sigma * (bends.sum(axis=0) + bends.sum(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 1.0, 200.0])
def test_ndcg1_of_a_long_list_is_that_of_all_pairs(spread) -> None:
    labels = GENERATOR.integers(0, 5, 2_100).astype(float)
    scores = 1e3 + spread * GENERATOR.normal(size=labels.size)
    found = evaluate("lambdaloss[variant=ndcg1,sigma=1.5]", scores, labels)
    for ours, expected in zip(found, ndcg1_of_all_pairs(scores, labels, 1.5), strict=True):
        np.testing.assert_allclose(
            ours, np.broadcast_to(expected, ours.shape), rtol=0, atol=1e-11 * np.abs(expected).max()
        )


def test_ties_are_shuffled_uniformly_and_anew_in_each_iteration() -> None:
    scores, labels = np.array([0.3, -0.5, 1.1, 0.4]), np.array([1.0, 1.0, 1.0, 0.0])

    def value(order) -> float:
        ranked = scores[list(order)]
        return sum(logsumexp(ranked[position:]) - ranked[position] for position in range(4))

    possible = [value((*order, 3)) for order in itertools.permutations(range(3))]
    bound = rp.loss("listmle").on(np.tile(labels, 1000), np.arange(0, 4001, 4))
    drawn = np.concatenate([bound(np.tile(scores, 1000), iteration=one).value for one in range(6)])
    nearest = np.abs(drawn[:, None] - possible)
    assert nearest.min(1).max() < 1e-12
    np.testing.assert_allclose(np.bincount(nearest.argmin(1)) / drawn.size, 1 / 6, atol=0.02)
    stable = evaluate("listmle[ties=stable]", scores, labels)
    np.testing.assert_allclose(stable.value, possible[0])


def map_loss_of(order, relevant) -> float:
    hits = np.flatnonzero(relevant[list(order)])
    return 1 - np.mean((1 + np.arange(hits.size)) / (1 + hits))


@pytest.mark.parametrize("relevant", [1, 2, 3, 5])
def test_svm_map_finds_the_most_violated_of_all_rankings(relevant) -> None:
    for _ in range(10):
        scores, labels = GENERATOR.normal(size=6), np.zeros(6)
        labels[GENERATOR.permutation(6)[:relevant]] = GENERATOR.integers(1, 5, relevant)
        goods, bads = np.flatnonzero(labels >= 1), np.flatnonzero(labels == 0)
        most = -np.inf
        for order in itertools.permutations(range(6)):
            position = np.argsort(order)
            violated = [(g, b) for g in goods for b in bads if position[g] > position[b]]
            slack = -2 * sum(scores[g] - scores[b] for g, b in violated) / (goods.size * bads.size)
            most = max(most, map_loss_of(order, labels >= 1) + slack)
        np.testing.assert_allclose(evaluate("svm_map", scores, labels).value, most, atol=1e-12)


def soft_ndcg_by_enumeration(scores, labels, sigma, cutoff) -> float:
    discounts = np.where(np.arange(len(labels)) < cutoff, 1 / np.log2(2 + np.arange(len(labels))), 0)
    ideal = (np.sort(2**labels - 1)[::-1] * discounts).sum()
    total = 0.0
    for document in range(len(labels)):
        lost = norm.cdf((np.delete(scores, document) - scores[document]) / (sigma * math.sqrt(2)))
        for outcome in itertools.product([0, 1], repeat=len(lost)):
            chance = np.prod(np.where(outcome, lost, 1 - lost))
            total += (2 ** labels[document] - 1) * chance * discounts[sum(outcome)]
    return total / ideal


@pytest.mark.parametrize("cutoff", [None, 2])
def test_softrank_is_the_expectation_over_all_outcomes_of_the_contests(cutoff) -> None:
    scores, labels = random_list(7)
    name = f"softrank[sigma=0.7,k={'none' if cutoff is None else cutoff}]"
    expected = soft_ndcg_by_enumeration(scores, labels, 0.7, cutoff or 7)
    np.testing.assert_allclose(evaluate(name, scores, labels).value, -expected, rtol=1e-12)


def nearest_in_permutahedron(point: np.ndarray) -> np.ndarray:
    """Return the nearest mixture of permutations of 1 to n, in which the sum over any subset is at least 1 + 2 + ..."""
    n = point.size
    subsets = [list(one) for size in range(1, n) for one in itertools.combinations(range(n), size)]
    held = [
        {"type": "ineq", "fun": lambda x, subset=subset: x[subset].sum() - len(subset) * (len(subset) + 1) / 2}
        for subset in subsets
    ]
    held.append({"type": "eq", "fun": lambda x: x.sum() - n * (n + 1) / 2})
    middle = np.full(n, (n + 1) / 2)
    return minimize(lambda x: ((x - point) ** 2).sum(), middle, constraints=held, method="SLSQP", tol=1e-12).x


@pytest.mark.parametrize("epsilon", [0.1, 0.4, 3.0])
def test_soft_spearman_measures_from_the_nearest_point_of_the_permutahedron(epsilon) -> None:
    scores = GENERATOR.normal(size=5)
    labels = GENERATOR.permutation(5).astype(float)
    soft = nearest_in_permutahedron(-scores / epsilon)
    value = evaluate(f"soft_spearman[epsilon={epsilon}]", scores, labels).value.item()
    assert value == pytest.approx(0.5 * ((soft - (5 - labels)) ** 2).sum(), abs=1e-5)


def returns_of(rewarded, discount: float) -> list[float]:
    rewards = [gain / max(1, math.log2(step + 1)) for step, gain in enumerate(rewarded)]
    return [
        sum(discount ** (later - step) * rewards[later] for later in range(step, len(rewards)))
        for step in range(len(rewards))
    ]


@pytest.mark.parametrize("discount", [pytest.param(1.0, marks=pytest.mark.slow), 0.6])
def test_mdprank_follows_the_gradient_of_the_expected_return(discount) -> None:
    scores, labels = np.array([0.4, -0.3, 0.1]), np.array([0.0, 2.0, 1.0])

    def expected_return(scores) -> float:
        total = 0.0
        for order in itertools.permutations(range(3)):
            chance = math.exp(sum(scores[order[t]] - logsumexp(scores[list(order[t:])]) for t in range(3)))
            total += chance * returns_of([2 ** labels[document] - 1 for document in order], discount)[0]
        return total

    step = 1e-6 * np.eye(3)
    expected = [-(expected_return(scores + s) - expected_return(scores - s)) / 2e-6 for s in step]
    result = evaluate(f"mdprank[episodes=50000,discount={discount}]", scores, labels)
    np.testing.assert_allclose(result.gradient, expected, atol=0.04)


@pytest.mark.parametrize(("name", "weights"), [("geometric", [1, 0.85, 0.85**2]), ("reciprocal", [1, 1 / 2, 1 / 3])])
def test_yetirank_weighs_neighbours_of_noisy_rankings(name, weights) -> None:
    scores, labels = np.array([0.4, -0.3, 1.2, 0.0]), np.array([0.0, 2.0, 1.0, 1.0])
    noisy = scores + GENERATOR.logistic(size=(200_000, 4))
    ranked = np.argsort(-noisy, axis=1)
    expected = 0.0
    for index, weight in enumerate(weights):
        upper, lower = ranked[:, index], ranked[:, index + 1]
        gap = np.sign(labels[upper] - labels[lower]) * (scores[upper] - scores[lower])
        expected += weight * np.mean(abs(labels[upper] - labels[lower]) * np.log1p(np.exp(-gap)))
    value = evaluate(f"yetirank[permutations=200000,position_weight={name}]", scores, labels).value
    np.testing.assert_allclose(value, expected, rtol=0.01)


def test_boltzrank_is_its_formula_over_the_rankings_drawn() -> None:
    from rankplug_classics.boltzrank import boltzrank

    scores, labels = random_list(5)
    uniform = GENERATOR.uniform(size=(6, 1, 7))
    rankings = [np.argsort(-(labels - np.log(-np.log(row[0, :5]))), kind="stable") for row in uniform]
    agreement = lambda values, order: sum(  # noqa: E731
        values[order[a]] - values[order[b]] for a in range(5) for b in range(a + 1, 5)
    )
    log_law = np.array([2 * agreement(scores, order) / 20 for order in rankings])
    log_law -= logsumexp(log_law)
    target = np.exp([2 * agreement(labels, order) / 20 / 0.5 for order in rankings])
    discounts = 1 / np.log2(2 + np.arange(5))
    ideal = (np.sort(2**labels - 1)[::-1] * discounts).sum()
    ndcg = np.array([((2 ** labels[order] - 1) * discounts).sum() / ideal for order in rankings])
    expected = -0.3 * (np.exp(log_law) * ndcg).sum() - 0.7 * (target / target.sum() * log_law).sum()
    padded = [torch.from_numpy(np.pad(values, (0, 2)))[None] for values in (scores, labels, np.ones(5, bool))]
    value = boltzrank(*padded, lambda draws: torch.from_numpy(uniform[:draws]), 6, 0.3, 0.5)
    np.testing.assert_allclose(value.numpy(), [expected], rtol=1e-12)


def test_mse_is_the_mean_of_squares() -> None:
    result = evaluate("mse", [1.0, 2.0], [0.0, 4.0])
    assert result.value == [2.5]
    assert result.gradient.tolist() == [1.0, -2.0]
    assert result.curvature.tolist() == [1.0, 1.0]
