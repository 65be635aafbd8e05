"""A weighted sum of the features, for engines that work on all documents at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankplug.registry import Parameters
from rankplug.system import threads, workers
from rankplug_scorers.weighted_sums import BLOCK, add_blocks, weigh_documents, weigh_features

STEPS_A_FEATURE = 0.5
"""Cost of a product and its addition, in the steps by which :mod:`rankplug.system.workers` finds that threads pay."""


class LinearScorer:
    """``w x``, computed from float32 features in float64; no number of threads changes a bit of it."""

    linear = True
    """Scores are the features times the weights."""

    def __init__(self, parameters: Parameters, features: int) -> None:
        self.weights = features

    def scores(self, w: NDArray[np.float64], features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return one score for each document."""
        scores = np.empty(features.shape[0])
        workers.run(lambda begin, end: weigh_features(begin, end, w, features, scores), _blocks(features))
        return scores

    def pullback(self, gradient: NDArray[np.float64], features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the gradient of the weights from that of the scores."""
        sums = np.empty((-(-features.shape[0] // BLOCK), self.weights))
        total = np.empty(self.weights)
        workers.run(lambda begin, end: weigh_documents(begin, end, gradient, features, sums), _blocks(features))
        add_blocks(sums, total)
        return total


def _blocks(features: NDArray[np.float32]) -> list[workers.Chunk]:
    documents, columns = features.shape
    cost = np.full(-(-documents // BLOCK), STEPS_A_FEATURE * BLOCK * columns)
    return workers.chunks_of(cost, threads())
