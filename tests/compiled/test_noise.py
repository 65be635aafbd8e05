"""Noise from a counter is uniform, independent over all parts of its key, and the same however it is asked for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numba import njit
from scipy import stats

from rankplug.compiled import key_of, uniform

DRAWS = 20_000
KEYS = {
    "documents": lambda i: (0, 0, 0, 0, i),
    "samples": lambda i: (0, 0, 0, i, 0),
    "queries": lambda i: (0, 0, i, 0, 0),
    "iterations": lambda i: (0, i, 0, 0, 0),
    "seeds": lambda i: (i, 0, 0, 0, 0),
}


@njit
def drawn(keys):
    out = np.empty(len(keys))
    for i in range(len(keys)):
        out[i] = uniform(key_of(keys[i, 0], keys[i, 1], keys[i, 2], keys[i, 3]), keys[i, 4])
    return out


def draws(part: str, first: int = 0) -> np.ndarray:
    return drawn(np.array([KEYS[part](i) for i in range(first, first + DRAWS)]))


@pytest.mark.parametrize("part", KEYS)
def test_draws_are_uniform_along_every_part_of_the_key(part):
    counts, _ = np.histogram(draws(part), bins=100, range=(0, 1))
    assert stats.chisquare(counts).pvalue > 1e-4
    assert stats.kstest(draws(part), "uniform").pvalue > 1e-4


@pytest.mark.parametrize("part", KEYS)
@pytest.mark.parametrize("lag", [1, 2, 16])
def test_neighbours_are_independent_along_every_part_of_the_key(part, lag):
    values = draws(part)
    counts, _, _ = np.histogram2d(values[:-lag], values[lag:], bins=10, range=[(0, 1), (0, 1)])
    assert stats.chi2_contingency(counts).pvalue > 1e-4
    assert abs(np.corrcoef(values[:-lag], values[lag:])[0, 1]) < 4.5 / np.sqrt(DRAWS)


@pytest.mark.parametrize(("part", "other"), itertools.combinations(KEYS, 2))
def test_streams_of_different_parts_are_independent(part, other):
    correlation = np.corrcoef(draws(part, 1), draws(other, 1))[0, 1]
    assert abs(correlation) < 4.5 / np.sqrt(DRAWS)


def test_draws_never_reach_0_or_1():
    values = np.concatenate([draws(part) for part in KEYS])
    assert values.min() > 0.0 and values.max() < 1.0
