"""Threshold weak rankers: which feature and threshold agree most with given pulls on the documents.

>>> bins = Thresholds(np.array([[1.0], [2.0], [3.0]], np.float32), 255)
>>> bins.best(np.array([-1.0, -0.5, 1.5]))
(0, 2.0, 1.5)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction


class Thresholds:
    """The thresholds of every feature, and the documents' places among them; a byte an entry.

    Args:
        features: one row a document.
        number: thresholds of a feature at most; quantiles where it has more values.
    """

    def __init__(self, features: NDArray[np.float32], number: int) -> None:
        self.of_feature = [_thresholds(column, number) for column in features.T]
        self.places = np.empty((features.shape[1], features.shape[0]), np.uint8)
        for feature, thresholds in enumerate(self.of_feature):
            self.places[feature] = np.searchsorted(thresholds, features[:, feature], side="left")

    def best(self, pulls: NDArray[np.float64]) -> tuple[int, float, float]:
        """Return the feature, threshold and sum of pulls above it, of the weak ranker whose sum is farthest from 0."""
        counts = np.array([thresholds.size for thresholds in self.of_feature])
        feature, index, total = _farthest(self.places, counts, pulls)
        threshold = float(self.of_feature[feature][index]) if total else 0.0
        return int(feature), threshold, float(total)

    def above(self, feature: int, threshold: float) -> NDArray[np.bool_]:
        """Return which documents are above one of the thresholds."""
        return self.places[feature] > np.searchsorted(self.of_feature[feature], threshold)


class Stumps:
    """The sum of weak rankers ``(feature, threshold, weight)``."""

    def __init__(self, rankers: list[tuple[int, float, float]]) -> None:
        self.rankers = rankers

    def scores(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return one score for each document."""
        total = np.zeros(features.shape[0])
        for feature, threshold, weight in self.rankers:
            total += weight * (features[:, feature] > np.float32(threshold))
        return total


def _thresholds(column: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    """Return the values of the feature that have documents on either side; quantiles if there are too many."""
    values = np.unique(column)
    if values.size - 1 > number:
        values = np.unique([*np.quantile(column, np.linspace(0, 1, number + 2)[1:-1], method="lower"), values[-1]])
    return values[:-1].astype(np.float32)


@ArrayFunction
def _farthest(bins, counts, pulls):
    """Find the feature and threshold whose documents above it have the sum of pulls farthest from 0."""
    best_feature, best_place, best = 0, 0, 0.0
    sums = np.empty(256)
    for feature in range(bins.shape[0]):
        sums[:] = 0.0
        for document in range(pulls.size):
            sums[bins[feature, document]] += pulls[document]
        above = 0.0
        for position in range(counts[feature] - 1, -1, -1):
            above += sums[position + 1]
            if abs(above) > abs(best):
                best_feature, best_place, best = feature, position, above
    return best_feature, best_place, best
