"""Weak rankers that are single features, as AdaRank has them.

>>> SingleFeatures([(1, 0.5), (0, 2.0), (1, 0.25)]).scores(np.array([[1.0, 4.0]], np.float32))
array([5.])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class SingleFeatures:
    """The weighted sum of some features, ``(feature, weight)`` each, of which one may come several times."""

    def __init__(self, rankers: list[tuple[int, float]]) -> None:
        self.rankers = rankers

    def scores(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return one score for each document."""
        total = np.zeros(features.shape[0])
        for feature, weight in self.rankers:
            total += weight * features[:, feature]
        return total
