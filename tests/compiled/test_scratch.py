"""Results do not depend on where the heap puts a short list's arrays."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp

STARTS = np.concatenate(([0], np.cumsum(np.arange(2, 45))))
GENERATOR = np.random.default_rng(20)
SCORES, LABELS = GENERATOR.normal(size=STARTS[-1]), GENERATOR.integers(0, 5, STARTS[-1])


LOSSES = [
    "softrank",
    *(
        pytest.param(loss, marks=pytest.mark.slow)
        for loss in ("convex_loss[gain=map]", "logrank_mle[rankings=sampled]", "ranknet")
    ),
]


@pytest.mark.parametrize("loss", LOSSES)
def test_every_digit_is_the_same_wherever_arrays_lie(loss):
    held: list[list[np.ndarray]] = []
    first = None
    for trial in range(25):
        held = [*held[-2:], [np.empty(size) for size in GENERATOR.integers(1, 60, 200)][:: 1 + trial % 2]]
        result = rp.loss(loss).evaluate(SCORES.copy(), LABELS, STARTS)
        first = first or result
        for one, other in zip(first, result, strict=True):
            assert (one == other).all()
