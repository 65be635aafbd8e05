"""Linear scores and their pullback are sums in float64 in an order that is written down, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from rankplug_scorers.linear import BLOCK, LANES, LinearScorer

import rankplug as rp
from rankplug.registry import Parameters
from rankplug.system import workers

SHAPES = [(1, 1), (3, 7), (40, 8), (BLOCK - 1, 9), (BLOCK + 1, 25), (3 * BLOCK + 6, 46), (700, 136)]


def drawn(documents, columns):
    noise = np.random.default_rng(documents)
    features = np.exp(noise.normal(scale=3.0, size=(documents, columns))).astype(np.float32)
    return features, noise.normal(size=columns), noise.normal(size=documents)


def scores_in_order(w, features):
    """Sum in the order of the module's documentation in plain NumPy, an operation at a time."""
    whole = w.size - w.size % LANES
    products = features.astype(np.float64) * w
    lanes = np.zeros((features.shape[0], LANES))
    for begin in range(0, whole, LANES):
        lanes = lanes + products[:, begin : begin + LANES]
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    total = lanes[:, 0]
    for column in range(whole, w.size):
        total = total + products[:, column]
    return total


def pullback_in_order(gradient, features):
    products = features.astype(np.float64) * gradient[:, None]
    total = np.zeros(features.shape[1])
    for begin in range(0, len(features), BLOCK):
        of_block = np.zeros(features.shape[1])
        for row in products[begin : begin + BLOCK]:
            of_block = of_block + row
        total = total + of_block
    return total


@pytest.mark.parametrize(("documents", "columns"), SHAPES)
def test_sums_are_those_of_the_order_that_is_written_down_to_the_last_bit(documents, columns, monkeypatch):
    monkeypatch.setattr(workers, "WORTH_A_THREAD", 0)
    features, w, gradient = drawn(documents, columns)
    scorer = LinearScorer(Parameters(), columns)
    expected = scores_in_order(w, features).tobytes(), pullback_in_order(gradient, features).tobytes()
    for number in (1, 2, 3):
        with rp.use_threads(number):
            found = scorer.scores(w, features).tobytes(), scorer.pullback(gradient, features).tobytes()
        assert found == expected
