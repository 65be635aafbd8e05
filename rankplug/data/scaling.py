r"""Scale on which a model sees features: fitted to the training part, saved in the model, used in every prediction.

Measures of text and clicks span many orders of magnitude, and steps along a gradient cannot follow the few documents
with the largest ones. ``log`` is :math:`\operatorname{sign}(x)\ln(1+|x|)`, then as ``standard`` mean 0 and deviation 1
over the training documents.

>>> features = np.array([[0.0, 5.0], [np.e - 1, 5.0]], np.float32)
>>> Scaling.of("log", features)(features)
array([[-1.,  0.],
       [ 1.,  0.]], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from rankplug.system import workers

Matrix = NDArray[np.float32]
ScalingKind = Literal["standard", "log"]
ROWS = 8192


@dataclass(frozen=True, eq=False)
class Scaling:
    """Change of features before a model sees them.

    Args:
        kind: ``standard``, ``log``, or None for features as they are.
        centre: of each feature; empty where nothing happens.
        deviation: of each feature, 1 where it is constant.
    """

    kind: ScalingKind | None = None
    centre: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    deviation: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, kind: ScalingKind | None, features: Matrix) -> Scaling:
        """Fit a scaling to the values of the training documents that are present, read in two passes of blocks."""
        if kind is None:
            return cls()
        centre, square, present = (np.zeros(features.shape[1]) for _ in range(3))
        for _, block in _blocks(features):
            centre += np.nansum(_spread(kind, block), axis=0, dtype=np.float64)
            present += block.shape[0] - np.isnan(block).sum(axis=0)
        present[present == 0.0] = 1.0
        centre /= present
        for _, block in _blocks(features):
            square += np.nansum(np.square(_spread(kind, block) - centre), axis=0)
        deviation = np.sqrt(square / present)
        deviation[deviation == 0.0] = 1.0
        return cls(kind, centre, deviation)

    def __call__(self, features: Matrix) -> Matrix:
        """Return the features as the model sees them."""
        if self.kind is None:
            return features
        scaled = np.empty(features.shape, np.float32)

        def work(begin: int, end: int) -> None:
            scaled[begin:end] = (_spread(self.kind, features[begin:end]) - self.centre) / self.deviation

        workers.run(work, [(rows.start, rows.stop) for rows, _ in _blocks(features)])
        return scaled

    def describe(self) -> dict[str, Any]:
        """Return the scaling as plain values for JSON."""
        return {"kind": self.kind, "centre": self.centre.tolist(), "deviation": self.deviation.tolist()}

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> Scaling:
        """Read what :meth:`describe` returned."""
        centre, deviation = (np.asarray(described[name], np.float64) for name in ("centre", "deviation"))
        return cls(described["kind"], centre, deviation)


def signed_log1p(features: NDArray[Any]) -> NDArray[Any]:
    """Return the logarithm of each value's size, with its sign."""
    return cast(NDArray[Any], np.copysign(np.log1p(np.abs(features)), features))


def _spread(kind: ScalingKind | None, block: Matrix) -> NDArray[Any]:
    return signed_log1p(block) if kind == "log" else block


def _blocks(features: Matrix) -> Iterator[tuple[slice, Matrix]]:
    for first in range(0, features.shape[0], ROWS):
        rows = slice(first, min(first + ROWS, features.shape[0]))
        yield rows, features[rows]
