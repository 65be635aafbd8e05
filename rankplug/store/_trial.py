"""One trial of a combination, its result and its test scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.store._combination import Combination
from rankplug.system import trial_seed
from rankplug.training import LearningCurve

if TYPE_CHECKING:
    from rankplug.data import Lists
    from rankplug.training import Model

Doubles = NDArray[np.float64]


class OtherTestPartError(Exception):
    """Stored scores are of other test documents."""


@dataclass(frozen=True, eq=False)
class DocumentScores:
    """Scores of a test part.

    Args:
        scores: one score per document.
        lengths: number of documents of each query.
    """

    scores: Doubles
    lengths: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class KeptScores:
    """Stored test scores of a trial with its learning curve and record.

    Args:
        scores: one score per test document, in the order of the data.
        curve: metrics on training and validation data after each iteration.
        record: timings, versions and fingerprints of the trial that was trained.
        identity: identity of the combination that was trained.
    """

    scores: Doubles
    curve: LearningCurve
    record: dict[str, Any]
    identity: str

    def of_blocks(self, blocks: Iterator[Lists]) -> Iterator[tuple[Lists, Doubles]]:
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


@dataclass(frozen=True)
class Trial:
    """A fold and a repetition of a combination.

    Args:
        combination: the model, data and metrics.
        fold: fold of the data set, from 1.
        number: number of the repetition, from 0; each has its own seed, shared by all combinations with one master
            seed.
    """

    combination: Combination
    fold: int = 1
    number: int = 0

    @property
    def identity(self) -> str:
        """The name of its result."""
        return f"{self.combination.identity}-f{self.fold}-t{self.number}"

    @property
    def seed(self) -> int:
        """Seed that does not depend on losses, scorers or backends, so that these are compared in pairs."""
        return trial_seed(self.combination.seed, self.number)

    def __str__(self) -> str:
        return f"{self.combination} fold {self.fold} trial {self.number}"


@dataclass(frozen=True, eq=False)
class Result:
    """Result of a trial.

    Args:
        trial: the trial.
        queries: metric -> one value per test query, nan where the metric is undefined.
        query_ids: names of the test queries.
        curve: the metrics on training and validation data after each iteration.
        record: timings, versions and fingerprints as plain values.
        failure: traceback of a trial that failed, empty otherwise.
        not_run: whether the failure is no fault of the combination, so that nothing is recorded.
        model: the fitted model, in the process that fitted it; it is not stored.
        scores: scores of the test documents, where they are to be stored.
    """

    trial: Trial
    queries: dict[str, Doubles] = field(default_factory=dict)
    query_ids: tuple[str, ...] = ()
    curve: LearningCurve = field(default_factory=LearningCurve)
    record: dict[str, Any] = field(default_factory=dict)
    failure: str = ""
    not_run: bool = False
    model: Model | None = field(default=None, repr=False)
    scores: DocumentScores | None = field(default=None, repr=False)

    @property
    def failed(self) -> bool:
        """True if the trial failed."""
        return bool(self.failure)

    @property
    def reason(self) -> str:
        """The last line of the failure, which names it."""
        return self.failure.strip().splitlines()[-1] if self.failure else ""
