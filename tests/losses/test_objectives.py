"""Losses bound to labels: weights, and values too large for doubles."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp
from rankplug.errors import DataError

LABELS, STARTS = np.array([1.0, 0.0, 2.0, 1.0, 0.0]), np.array([0, 3, 5])
SCORES = np.array([0.3, 0.1, -0.2, 0.4, 1.1])


def slopes(loss: str, weights: np.ndarray) -> np.ndarray:
    """Return the derivative of the weighted value by finite differences."""

    def value(scores: np.ndarray) -> float:
        return float(rp.loss(loss).evaluate(scores, LABELS, STARTS, weights=weights).value.sum())

    steps = 1e-6 * np.eye(SCORES.size)
    return np.array([(value(SCORES + step) - value(SCORES - step)) / 2e-6 for step in steps])


@pytest.mark.parametrize(
    ("loss", "weights"),
    [("mse", [5.0, 1.0, 2.0, 0.5, 3.0]), ("mse", [5.0, 0.5]), ("cross_entropy", [5.0] * 3 + [0.5] * 2)],
)
def test_the_weighted_gradient_is_the_slope_of_the_value(loss, weights):
    gradient = rp.loss(loss).evaluate(SCORES, LABELS, STARTS, weights=weights).gradient
    np.testing.assert_allclose(gradient, slopes(loss, weights), rtol=1e-6, atol=1e-8)


def test_pytorch_gets_the_slope_of_the_weighted_value():
    torch = pytest.importorskip("torch")
    scores = torch.tensor([1.0, 3.0], dtype=torch.float64, requires_grad=True)
    value = rp.torch_loss("mse", reduction="sum")(scores, [0, 2], [0, 2], weights=[5.0, 1.0])
    value.backward()
    assert value.item() == (5 * 1.0 + 1 * 1.0) / 2
    assert scores.grad.tolist() == [5 * 2.0 / 2, 2.0 / 2]


def test_weights_that_no_value_can_have_are_refused():
    weights = [1.0, 1.0, 1.0, 2.0, 3.0]
    with pytest.raises(DataError, match="the documents of list 1 have different weights, but loss cross_entropy"):
        rp.loss("cross_entropy").evaluate(SCORES, LABELS, STARTS, weights=weights)
    plain = rp.loss("lambdarank").evaluate(SCORES, LABELS, STARTS, step="newton")
    weighted = rp.loss("lambdarank").evaluate(SCORES, LABELS, STARTS, weights=weights, step="newton")
    np.testing.assert_allclose(weighted.gradient, plain.gradient * weights)
    np.testing.assert_allclose(weighted.value, plain.value * [1.0, 2.5])


def test_labels_whose_gain_overflows_are_refused():
    with pytest.raises(DataError, match="labels of up to 1024 are too large for approx_ndcg"):
        rp.loss("approx_ndcg").evaluate([0.0, 1.0], [1024, 0], [0, 2])
