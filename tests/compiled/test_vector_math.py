"""The vectorised exponential and logarithm are those of NumPy to two units in the last place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankplug.compiled import exp, exponentials_from, largest, log


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
