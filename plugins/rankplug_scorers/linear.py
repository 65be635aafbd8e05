"""A weighted sum of the features, for engines that work on all documents at once, by one compiled pass.

The features are read as float32; products are made and added in float64. The order of the additions is fixed, so sums
are the same to the last bit on any number of threads and in vector registers of any width:

- along a document, :data:`LANES` sums take the features in turn, are added up in pairs, and take the remaining features
  one by one;
- along a feature, the documents of a block of :data:`BLOCK` are added one after another, and then the blocks are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction
from rankplug.registry import Parameters
from rankplug.system import threads, workers

LANES = 8
BLOCK = 512
STEPS_A_FEATURE = 0.5
"""Cost of a product and its addition, in the steps by which :mod:`rankplug.system.workers` decides on threads."""


@intrinsic
def _in_lanes(typing: Any, weights: Any, features: Any, document: Any) -> Any:
    """Sum the part of a document's weighted sum that fills the lanes, which LLVM does not vectorise by itself."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w, x = (
            context.make_array(kind)(context, builder, array)
            for kind, array in zip(signature.args[:2], arguments[:2], strict=True)
        )
        columns = builder.extract_value(w.shape, 0)
        size = ir.Constant(columns.type, LANES)
        single, double = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(ir.DoubleType(), LANES)
        row = builder.gep(x.data, [builder.mul(arguments[2], columns)])
        lanes = cgutils.alloca_once_value(builder, ir.Constant(double, None))
        with cgutils.for_range(builder, builder.sdiv(columns, size)) as loop:
            offset = builder.mul(loop.index, size)
            factors = builder.load(builder.bitcast(builder.gep(w.data, [offset]), double.as_pointer()), align=8)
            values = builder.load(builder.bitcast(builder.gep(row, [offset]), single.as_pointer()), align=4)
            products = builder.fmul(factors, builder.fpext(values, double))
            builder.store(builder.fadd(builder.load(lanes), products), lanes)
        vector = builder.load(lanes)
        sums = [builder.extract_element(vector, ir.Constant(ir.IntType(32), lane)) for lane in range(LANES)]
        while len(sums) > 1:
            half = len(sums) // 2
            sums = [builder.fadd(lane, other) for lane, other in zip(sums[:half], sums[half:], strict=True)]
        return sums[0]

    return types.float64(weights, features, document), generate


@ArrayFunction
def weigh_features(
    begin: int, end: int, weights: NDArray[np.float64], features: NDArray[np.float32], sums: NDArray[np.float64]
) -> None:
    """Fill ``sums``, one a document, for the documents of some blocks."""
    columns = weights.size
    for document in range(begin * BLOCK, min(end * BLOCK, features.shape[0])):
        total = _in_lanes(weights, features, document)
        for column in range(columns - columns % LANES, columns):
            total += weights[column] * features[document, column]
        sums[document] = total


@ArrayFunction
def weigh_documents(
    begin: int, end: int, weights: NDArray[np.float64], features: NDArray[np.float32], sums: NDArray[np.float64]
) -> None:
    """Fill ``sums``, a row of one a feature for each block, for some blocks."""
    for block in range(begin, end):
        row = sums[block]
        row[:] = 0.0
        first, last = block * BLOCK, min((block + 1) * BLOCK, features.shape[0])
        # Four documents at a time spare loading and storing the row; they are added in their order all the same.
        for document in range(first, last - 3, 4):
            one, two = weights[document], weights[document + 1]
            three, four = weights[document + 2], weights[document + 3]
            for column in range(row.size):
                both = row[column] + one * features[document, column] + two * features[document + 1, column]
                row[column] = both + three * features[document + 2, column] + four * features[document + 3, column]
        for document in range(last - (last - first) % 4, last):
            for column in range(row.size):
                row[column] += weights[document] * features[document, column]


@ArrayFunction
def add_blocks(sums: NDArray[np.float64], total: NDArray[np.float64]) -> None:
    """Add up the rows."""
    total[:] = 0.0
    for block in range(sums.shape[0]):
        for column in range(total.size):
            total[column] += sums[block, column]


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
