"""The conventions that metrics share: the cut-off, how ties are ordered, and what a query without relevance counts."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from rankplug.registry import Parameters

Empty = Literal["skip"] | Annotated[float, Field(ge=0, le=1)]
Ties = Literal["stable", "worst", "random"]
WHOLE_LIST = 1 << 62


class MetricParameters(Parameters):
    """Base of every metric's parameters."""

    empty: Empty = Field(
        "skip",
        description="value of a query where the metric is undefined, such as one without a relevant document: skip"
        " (nan, left out of means), 0 (LETOR's and MSLR's scripts), 0.5 (Yahoo) or 1 (LightGBM)",
    )

    def check_labels(self, labels: NDArray[np.float64]) -> None:
        """Raise :class:`~rankplug.errors.DataError` if the labels do not suit the parameters."""


class RankingMetricParameters(MetricParameters):
    """Base of the parameters of metrics that look at the documents in the order of their scores.

    The order is always strict. Ranks found by counting higher scores would give tied documents the better rank each,
    and inflate the metric.
    """

    k: int | None = Field(None, ge=1, description="cut-off; none looks at the whole list")
    ties: Ties = Field(
        "stable",
        description="order of equal scores: stable (as they stand in the data), worst (least relevant first) or random",
    )
    tie_seed: int = Field(0, ge=0, description="seed of the random order of equal scores")

    @property
    def cutoff(self) -> int:
        """The cut-off as a number, larger than any list where there is none."""
        return WHOLE_LIST if self.k is None else self.k
