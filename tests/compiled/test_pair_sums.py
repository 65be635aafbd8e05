"""Sums over all pairs in one pass down the list and one up equal those over the whole square of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from rankplug.compiled import BEND, SLOPE, SOFTPLUS, TAIL, sum_over_pairs

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
