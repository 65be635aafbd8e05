"""Clicks on documents, counted by the position at which each was shown.

Users look at the top of a list first, so the click rate of a document depends on its position as much as on its
relevance.
Where the probability of an examination depends on the position alone, clicks over examinations do not:

>>> clicks = Clicks.from_log(documents=[0, 1, 1, 0, 0, 1], positions=[1, 2, 1, 2, 1, 2], clicked=[1, 0, 1, 1, 0, 1])
>>> clicks.rates.round(2).tolist()
[0.67, 0.67]
>>> clicks.relevance([1.0, 0.5]).round(2).tolist()
[0.8, 1.0]
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.data import ClickCounts
from rankplug.errors import DataError
from rankplug.system import check_memory, numbers, whole_number

LARGEST_GRADE = 4
"""Label of a document that everybody clicks on."""
BYTES_A_CELL = 16
"""Bytes for a document at a position while the impressions of a log are counted."""

Probabilities = NDArray[np.float64]


class Clicks(ClickCounts):
    """Impressions and clicks of each document at each position.

    Args:
        shown: int array of shape (documents, positions), impressions of each document at each position from the top.
        clicked: int array of the same shape, clicks on them.
        true_propensities: probability that a user looks at each position, where clicks are simulated.
        true_labels: relevance of each document, where clicks are simulated.
    """

    @classmethod
    def from_log(
        cls, documents: ArrayLike, positions: ArrayLike, clicked: ArrayLike, *, size: int | None = None
    ) -> Clicks:
        """Count the impressions of a log.

        Args:
            documents: place of each impression's document among the documents of the lists, from 0.
            positions: position of each impression, from 1.
            clicked: whether it was clicked.
            size: number of documents of the lists; up to the last one shown when absent.
        """
        rows, places = numbers(documents, "documents", "int64"), numbers(positions, "positions", "int64")
        hits = numbers(clicked, "clicked", "int64")
        if not rows.shape == places.shape == hits.shape or rows.ndim != 1 or not rows.size:
            raise DataError(
                "a log has one document, position and click an impression, got shapes"
                f" {rows.shape}, {places.shape} and {hits.shape}"
            )
        if places.min() < 1:
            raise DataError(f"positions count from 1, got {places.min()}")
        known = int(rows.max()) + 1 if size is None else whole_number(size, "size", least=1)
        if rows.min() < 0 or rows.max() >= known:
            raise DataError(f"documents are places from 0 to {known - 1}, got {rows.min()} to {rows.max()}")
        if not np.isin(hits, (0, 1)).all():
            raise DataError("clicked is 1 for an impression that was clicked and 0 for one that was not")
        shape = known, int(places.max())
        check_memory(
            shape[0] * shape[1] * BYTES_A_CELL,
            f"a log of {shape[0]:,} documents at {shape[1]:,} positions",
            "documents are named by their places among the lists, and impressions far below may be left out",
        )
        cells = rows * shape[1] + places - 1

        def counted(weights: NDArray[Any] | None) -> NDArray[np.int32]:
            return np.bincount(cells, weights, shape[0] * shape[1]).reshape(shape).astype(np.int32)

        return cls(counted(None), counted(hits))

    @classmethod
    def of(cls, counts: ClickCounts) -> Clicks:
        """Return counts, as lists carry them, with the methods of this class."""
        if not isinstance(counts, ClickCounts):
            raise DataError(f"clicks must be a rankplug.Clicks, as Lists.clicks is, got {type(counts).__name__}")
        return cls(**vars(counts))

    @property
    def positions(self) -> int:
        """Number of positions."""
        return int(self.shown.shape[1])

    @property
    def rates(self) -> NDArray[np.float64]:
        """Clicks for each time that a document was shown, wherever; 0 for one that never was."""
        return _ratio(self.clicked.sum(axis=1), self.shown.sum(axis=1))

    @property
    def only_positions(self) -> NDArray[np.int64] | None:
        """Position of each document, from 1, where each was shown exactly once, as in lists of one impression."""
        return self.shown.argmax(axis=1) + 1 if (self.shown.sum(axis=1) == 1).all() else None

    def labels(
        self, propensities: ArrayLike | None = None, estimator: Literal["ratio", "inverse"] = "ratio"
    ) -> NDArray[np.float32]:
        """Return labels for any loss, on the scale of grades from 0 to 4: of click rates, or of relevance.

        Many losses take :math:`2^y - 1` as the gain of a label y; that of these labels is proportional to the rate or
        the relevance, so that a gain without bias follows from relevance without bias.

        Args:
            propensities: probability that a user looks at each position; without them click rates are taken.
            estimator: estimator of relevance, see :meth:`relevance`.
        """
        share = self.rates if propensities is None else self.relevance(propensities, estimator)
        return np.log2(1.0 + (2.0**LARGEST_GRADE - 1.0) * share).astype(np.float32)

    def relevance(
        self, propensities: ArrayLike, estimator: Literal["ratio", "inverse"] = "ratio"
    ) -> NDArray[np.float64]:
        r"""Return estimates of the probability of a click on each document that is looked at.

        ``ratio`` is clicks over expected examinations, :math:`\sum c / \sum p` over a document's impressions.
        ``inverse`` is the inverse propensity score of Joachims et al. (2017), the mean of :math:`c / p` over them. Both
        have the right expectation over clicks; ``inverse`` varies more, as clicks at low positions weigh most. An
        estimate above 1 is taken as 1, a document that was never shown as 0.

        Args:
            propensities: probability that a user looks at each position.
            estimator: one of the two.
        """
        values = self.check_propensities(propensities)
        if estimator == "inverse":
            return np.minimum(_ratio(self.clicked @ (1.0 / values), self.shown.sum(axis=1)), 1.0)
        return np.minimum(_ratio(self.clicked.sum(axis=1), self.shown @ values), 1.0)

    def check_propensities(self, propensities: ArrayLike) -> Probabilities:
        """Return one probability a position, checked."""
        values = numbers(propensities, "propensities")
        if values.shape != (self.positions,):
            raise DataError(f"there are {self.positions} positions, but propensities of shape {values.shape}")
        if not (np.isfinite(values).all() and values.min() > 0):
            raise DataError(f"propensities must be finite and above 0, got {values.min():g}")
        return values


def _ratio(above: NDArray[Any], below: NDArray[Any]) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.zeros(above.shape), where=below > 0)
