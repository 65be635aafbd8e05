"""A weighted sum of the features, for engines that work on all documents at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rankplug.registry import Parameters

DOCUMENTS_AT_ONCE = 8192


class LinearScorer:
    """``w x``; products are made in float64 a block at a time, so that the features are never held twice."""

    def __init__(self, parameters: Parameters, features: int) -> None:
        self.weights = features

    def scores(self, w: NDArray[np.float64], features: NDArray[np.float32]) -> NDArray[np.float64]:
        """One score a document."""
        scores = np.empty(features.shape[0])
        for block in _blocks(features.shape[0]):
            scores[block] = features[block].astype(np.float64) @ w
        return scores

    def pullback(self, gradient: NDArray[np.float64], features: NDArray[np.float32]) -> NDArray[np.float64]:
        """The weights' gradient from the scores'."""
        total = np.zeros(self.weights)
        for block in _blocks(features.shape[0]):
            total += gradient[block] @ features[block].astype(np.float64)
        return total


def _blocks(documents: int) -> Iterator[slice]:
    return (slice(begin, begin + DOCUMENTS_AT_ONCE) for begin in range(0, documents, DOCUMENTS_AT_ONCE))
