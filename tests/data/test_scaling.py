"""Scaling of features that is part of a model: fitted to the training documents, and the same in every prediction."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankplug.data import Scaling


@pytest.fixture(scope="module")
def features():
    noise = np.random.default_rng(0)
    heavy = np.exp(3 * noise.normal(size=(10_000, 3))) * noise.choice([-1, 1], (10_000, 3))
    return np.column_stack([heavy, np.full(10_000, 7.0)]).astype(np.float32)


def test_standard_subtracts_the_mean_and_divides_by_the_deviation(features):
    scaled = Scaling.of("standard", features)(features)
    exact = features.astype(np.float64)
    np.testing.assert_allclose(
        scaled[:, :3], ((exact - exact.mean(0)) / exact.std(0).clip(1e-9))[:, :3], rtol=2e-4, atol=1e-5
    )


def test_log_takes_the_logarithm_of_the_size_with_its_sign_first(features):
    scaled = Scaling.of("log", features)(features)
    column = [math.copysign(math.log1p(abs(float(value))), value) for value in features[:, 0]]
    mean = math.fsum(column) / len(column)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in column) / len(column))
    np.testing.assert_allclose(scaled[:5, 0], [(value - mean) / deviation for value in column[:5]], rtol=1e-4)


@pytest.mark.parametrize("kind", ["standard", "log"])
def test_a_constant_feature_becomes_nothing(kind, features):
    assert not Scaling.of(kind, features)(features)[:, 3].any()


@pytest.mark.parametrize("kind", ["standard", "log"])
def test_what_is_written_reads_back_to_the_same_bits(kind, features):
    fitted = Scaling.of(kind, features)
    assert np.array_equal(Scaling.read(fitted.describe())(features), fitted(features))
