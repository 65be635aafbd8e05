"""Test scores of a trial, from which other metrics are measured without training again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.training import LearningCurve

if TYPE_CHECKING:
    from rankplug.data import Lists


class OtherTestPartError(Exception):
    """Test documents that are not those that were scored."""


@dataclass(frozen=True, eq=False)
class DocumentScores:
    """Scores of a test part.

    Args:
        scores: one a document.
        lengths: documents of each query.
    """

    scores: NDArray[np.float64]
    lengths: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class KeptScores:
    """Test scores of a trial with everything that training told.

    Args:
        scores: one a test document, in the order of the data.
        curve: the metrics on training and validation data after each iteration.
        record: timings, versions and fingerprints of the trial that was trained.
        identity: name of the combination that was trained.
    """

    scores: NDArray[np.float64]
    curve: LearningCurve
    record: dict[str, Any]
    identity: str

    def of_blocks(self, blocks: Iterator[Lists]) -> Iterator[tuple[Lists, NDArray[np.float64]]]:
        """Yield each block of the test part with its scores; raise where the part has another number of documents."""
        first = 0
        for block in blocks:
            last = first + block.documents
            if last > self.scores.size:
                raise OtherTestPartError
            yield block, self.scores[first:last]
            first = last
        if first != self.scores.size:
            raise OtherTestPartError
