"""Compiled building block for losses of pairs: the logistic loss of one pair, with its derivatives."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled.parts import part

Doubles = NDArray[np.float64]


@part(inline="always")
def add_logistic_pair(
    scores: Doubles, better: int, worse: int, weight: float, gradient: Doubles, curvature: Doubles
) -> float:
    """Return ``weight log(1 + exp(-(f_better - f_worse)))``, and add its derivatives for both documents."""
    gap = scores[better] - scores[worse]
    small = math.exp(-abs(gap))
    wrong = (small if gap > 0.0 else 1.0) / (1.0 + small)
    gradient[better] -= weight * wrong
    gradient[worse] += weight * wrong
    curvature[better] += weight * wrong * (1.0 - wrong)
    curvature[worse] += weight * wrong * (1.0 - wrong)
    return weight * (max(0.0, -gap) + math.log1p(small))
