"""A loss of ours in the user's own training loop of another engine: bound to the labels the engine hands over."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.errors import DataError
from rankplug.losses import Loss
from rankplug.registry import Named
from rankplug.samplers import Sampler
from rankplug.system import numbers, whole_number
from rankplug.training.boosting import BoostingObjective


class EngineObjective:
    """Gradient and curvature for an engine that hands over scores, labels, lengths of the lists and weights.

    It counts the iterations of a training itself, for losses with noise: new data or scores that are all 0 begin anew.
    It is pickled by the names of its loss and sampler, so that workers can receive it.

    Args:
        loss: its name.
        sampler: averages the loss over noise on the scores.
        seed: of the noise.
    """

    def __init__(self, loss: Named | Loss, *, sampler: Named | Sampler | None = None, seed: int = 0) -> None:
        self.loss = Loss.named(loss)
        self.sampler = None if sampler is None else Sampler.named(sampler)
        self.seed = whole_number(seed, "seed")
        self.iteration = 0
        self._bound: BoostingObjective | None = None
        self.__name__ = str(self.loss)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.loss}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (type(self), self.loss, self.sampler, self.seed)

    def derivatives(
        self, scores: NDArray[Any], labels: ArrayLike, lengths: ArrayLike | None, weights: ArrayLike | None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the gradient and curvature of every document."""
        if lengths is None:
            raise DataError(f"the objective {self.loss} needs to know the lists: give the data their group sizes")
        bound = self._bind(numbers(labels, "labels"), numbers(lengths, "group sizes", "int64"), weights)
        if not np.any(scores):
            self.iteration = 0
        step = bound(scores, self.iteration)
        self.iteration += 1
        return step.gradient, step.curvature

    def _bind(self, labels: NDArray[Any], lengths: NDArray[Any], weights: ArrayLike | None) -> BoostingObjective:
        weighed = None if weights is None or np.size(weights) == 0 else numbers(weights, "weights")
        if self._bound is not None:
            known = self._bound.objective
            same_weights = weighed is known.weights or (
                weighed is not None and known.weights is not None and np.array_equal(weighed, known.weights)
            )
            if same_weights and np.array_equal(known.lengths, lengths) and np.array_equal(known.labels, labels):
                return self._bound
        starts = np.concatenate(([0], np.cumsum(lengths)))
        objective = self.loss.on(labels, starts, sampler=self.sampler, weights=weighed, seed=self.seed, step="newton")
        self._bound, self.iteration = BoostingObjective(objective, valued=False), 0
        return self._bound


def _make(kind: type[EngineObjective], loss: Loss, sampler: Sampler | None, seed: int) -> EngineObjective:
    return kind(loss, sampler=sampler, seed=seed)
