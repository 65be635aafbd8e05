"""Sums over all pairs equal those over the whole square of pairs; exponentials and logarithms are those of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankplug.compiled import BEND, SLOPE, SOFTPLUS, TAIL, exp, exponentials_from, largest, log, sum_over_pairs

GENERATOR = np.random.default_rng(12)
DOCUMENTS = 500


def functions_of(gaps: np.ndarray) -> dict[int, np.ndarray]:
    tails = np.exp(-gaps)
    wrong = tails / (1 + tails)
    return {
        TAIL: wrong,
        SLOPE: wrong * (1 - wrong),
        SOFTPLUS: np.log1p(tails),
        BEND: wrong * (1 - wrong) * (1 - 2 * wrong),
    }


@pytest.mark.parametrize("levels", [1, 2, 7])
@pytest.mark.parametrize("spread", ["none", "ties", "narrow", "normal", "wide"])
def test_the_sums_are_those_over_the_square_of_pairs(levels, spread):
    scores = {
        "none": np.zeros(DOCUMENTS),
        "ties": GENERATOR.integers(0, 9, DOCUMENTS) * 0.25,
        "narrow": 5.0 + 1e-3 * GENERATOR.normal(size=DOCUMENTS),
        "normal": GENERATOR.normal(size=DOCUMENTS),
        "wide": 1e3 * GENERATOR.normal(size=DOCUMENTS),
    }[spread]
    exponents = np.sort(scores)[::-1].copy()
    level_of = GENERATOR.integers(0, levels, DOCUMENTS)
    weights, matching = GENERATOR.random((2, DOCUMENTS)), GENERATOR.random((levels, levels))
    above, lower_above, below, higher_below = sum_over_pairs(exponents, level_of, weights, matching, BEND + 1)
    place = np.arange(DOCUMENTS)
    gaps = np.abs(exponents[:, None] - exponents[None, :])
    met = matching[level_of[:, None], level_of[None, :]]
    for found, plain, before, inverted in (
        (above, lower_above, place[None, :] < place[:, None], level_of[None, :] < level_of[:, None]),
        (below, higher_below, place[None, :] > place[:, None], level_of[None, :] > level_of[:, None]),
    ):
        functions = functions_of(gaps)
        for function, values in functions.items():
            # The bend changes its sign, so that its error is told beside the slope.
            size = functions[SLOPE] if function == BEND else values
            expected, largest = (((each * met * before) @ weights.T).T for each in (values, size))
            np.testing.assert_array_less(
                np.abs(found[function] - expected),
                (1e-11 if function == BEND else 1e-12) * largest + 1e-280,
                str(function),
            )
        np.testing.assert_allclose(plain, ((met * before * inverted) @ weights.T).T, rtol=1e-13)


@pytest.mark.parametrize("spread", [1e-9, 1.0, 30.0, 700.0])
def test_exp_is_within_two_units_of_numpy(spread):
    numbers = np.random.default_rng(0).uniform(-spread, spread, 5000)
    found = np.array([exp(number) for number in numbers])
    expected = np.exp(numbers)
    assert np.all(np.abs(found - expected) <= 2 * np.spacing(expected))


@pytest.mark.parametrize("middle", [1e-300, 0.5, 1.0, 1e6, 1e300])
def test_log_is_within_two_units_of_numpy(middle):
    numbers = middle * np.exp(np.random.default_rng(1).normal(size=2000))
    found = np.array([log(number) for number in numbers])
    expected = np.log(numbers)
    assert np.all(np.abs(found - expected) <= 2 * np.spacing(np.abs(expected)))


def test_exp_is_exact_at_zero_and_saturates_without_overflow():
    assert exp(0.0) == 1.0
    assert exp(-1e9) == exp(-np.inf) == 0.0
    assert np.isfinite(exp(1e9)) and exp(1e9) == pytest.approx(np.exp(709.0))


def test_quotients_of_exponentials_are_sigmoids_at_any_gap_from_one_of_the_two():
    exponents = np.array([0.0, 900.0, -900.0, 5.0])
    shown = np.empty(4)
    for variant in range(4):
        exponentials_from(exponents, exponents[variant], shown)
        expected = 1.0 / (1.0 + np.exp(np.clip(exponents - exponents[variant], -700, 700)))
        np.testing.assert_allclose(shown[variant] / (shown[variant] + shown), expected, rtol=1e-14, atol=1e-250)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=300))
def test_the_largest_is_the_one_that_python_finds(numbers):
    assert largest(np.array(numbers)) == max(numbers)
