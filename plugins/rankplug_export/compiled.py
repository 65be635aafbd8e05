"""Trees that predict fast where few documents come at a time, as in serving.

All documents of a block take their steps down a tree together, without a branch: a node's children lie side by side,
and where a feature is above the threshold is added to the left one's place. A leaf leads to itself. Sums are made tree
after tree, in the engine's precision, so that scores are the engine's to the last bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.compiled import ArrayFunction
from rankplug.errors import DataError, FitError
from rankplug.system import numbers, threads, workers
from rankplug.training import Model
from rankplug_export.trees import LEAF, TreeEnsemble

LANES = 16
BLOCK = 4 * LANES
STEPS_A_NODE = 5.0
"""Cost of one node for one document, in the steps by which :mod:`rankplug.system.workers` decides on threads."""
DOCUMENTS_A_LOOK = 4096


def compile_model(model: Model) -> CompiledModel:
    """Return a model of trees compiled for prediction where few documents come at a time."""
    ensemble = model.tree_ensemble()
    if ensemble is None:
        raise FitError(f"{model!r} has no trees to compile; its predict is compiled as it is")
    return CompiledModel(ensemble, model)


class CompiledModel:
    """Trees laid out for prediction, which score documents as the model does, to the last bit.

    Args:
        ensemble: the trees.
        model: the model that they are from, which orders the columns of data with names.
    """

    def __init__(self, ensemble: TreeEnsemble, model: Model | None = None) -> None:
        self.model = model
        self.features = ensemble.features
        self.single = ensemble.single
        self.base = ensemble.base
        self._roots = ensemble.roots.astype(np.uint32)
        self._depths = ensemble.depths().astype(np.int32)
        self._feature = np.where(ensemble.feature == LEAF, 0, ensemble.feature).astype(np.uint64)
        self._threshold, self._value = ensemble.threshold, ensemble.value
        self._left = ensemble.left.astype(np.uint32)
        self._missing_right = ~ensemble.missing_left
        self._block_cost = float(self._depths.sum()) * STEPS_A_NODE * BLOCK
        # The first call compiles, or finds what an earlier process compiled.
        self._into(np.zeros((1, self.features), np.float32), np.empty(1))

    def __repr__(self) -> str:
        return f"<compiled model of {self._roots.size} trees and {self.features} features>"

    def predict(self, features: ArrayLike) -> NDArray[np.float64]:
        """Return one score a row of a matrix or a data frame, whose columns are matched as by ``model.predict``."""
        matrix = features
        if not (isinstance(matrix, np.ndarray) and matrix.dtype == np.float32 and matrix.flags.c_contiguous):
            matrix = (
                numbers(features, "features", "float32") if self.model is None else self.model.features_of(features)
            )
        if matrix.ndim != 2 or matrix.shape[1] != self.features:
            raise DataError(f"the model has {self.features} features, got an array of shape {matrix.shape}")
        scores = np.empty(matrix.shape[0])
        self._into(matrix, scores)
        return scores

    def _into(self, matrix: NDArray[np.float32], scores: NDArray[np.float64], complete: bool = False) -> None:
        """Fill one score a row of a matrix, of which it may be known that it is complete, without a missing value."""
        rows = matrix.shape[0]

        def work(first: int, last: int) -> None:
            begin, end = first * BLOCK, min(last * BLOCK, rows)
            add_trees(
                matrix[begin:end], self._roots, self._depths, self._feature, self._threshold, self._left,
                self._missing_right, self._value, self.base, self.single, complete, scores[begin:end],
            )  # fmt: skip

        blocks = -(-rows // BLOCK)
        if blocks * self._block_cost < workers.WORTH_A_THREAD:
            work(0, blocks)
        else:
            workers.run(work, workers.chunks_of(np.full(blocks, self._block_cost), threads()))


class RunningScores:
    """Scores of some documents under a sum of trees that grows, to the last bit those of the whole sum.

    Args:
        features: float32 array of shape (documents, features).
    """

    def __init__(self, features: NDArray[np.float32]) -> None:
        self.features = features
        self.scores = np.zeros(features.shape[0])
        self._added = np.empty_like(self.scores)
        blocks = range(0, features.shape[0], DOCUMENTS_A_LOOK)
        self._complete = not any(np.isnan(features[first : first + DOCUMENTS_A_LOOK]).any() for first in blocks)

    def add(self, trees: CompiledModel) -> None:
        """Add the scores of more trees."""
        trees._into(self.features, self._added, self._complete)
        self.scores += self._added


@ArrayFunction
def add_trees(features, roots, depths, feature, threshold, left, missing_right, value, base, single, complete, scores):
    """Fill the scores of some documents; lanes beyond the last document repeat it.

    Places are unsigned, which spares asking whether they count from the end, and lanes are of one fixed number, so that
    all steps of a block become a few vector instructions.
    """
    rows, columns = features.shape
    flat = features.ravel()
    nodes, begins, sums = np.empty(LANES, np.uint32), np.empty(LANES, np.uint64), np.empty(LANES)
    missing = False
    for index in range(0 if complete else flat.size):
        missing |= flat[index] != flat[index]
    for first in range(0, rows, LANES):
        for lane in range(LANES):
            begins[lane] = np.uint64(min(first + lane, rows - 1)) * np.uint64(columns)
            sums[lane] = base
        for tree in range(roots.size):
            for lane in range(LANES):
                nodes[lane] = roots[tree]
            for _ in range(depths[tree]):
                if missing:
                    for lane in range(LANES):
                        node = nodes[lane]
                        number = flat[begins[lane] + feature[node]]
                        right = (number > threshold[node]) | ((number != number) & missing_right[node])
                        nodes[lane] = left[node] + np.uint32(right)
                else:
                    for lane in range(LANES):
                        node = nodes[lane]
                        above = flat[begins[lane] + feature[node]] > threshold[node]
                        nodes[lane] = left[node] + np.uint32(above)
            if single:
                for lane in range(LANES):
                    sums[lane] = np.float32(np.float32(sums[lane]) + np.float32(value[nodes[lane]]))
            else:
                for lane in range(LANES):
                    sums[lane] += value[nodes[lane]]
        for lane in range(min(LANES, rows - first)):
            scores[first + lane] = sums[lane]
