"""One trial of a combination: load, fit, measure. The unit that is stored, repeated and never computed twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.store.combination import Combination
from rankplug.store.kept_scores import DocumentScores
from rankplug.system import trial_seed
from rankplug.training import LearningCurve

if TYPE_CHECKING:
    from rankplug.training import Model

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Trial:
    """A fold and a repetition of a combination.

    Args:
        combination: what is trained on what.
        fold: of the data set, from 1.
        number: of the repetition, from 0; each has a seed of its own, shared by all combinations with one master seed.
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
        """Its seed, which does not depend on losses, scorers or backends, so that these are compared in pairs."""
        return trial_seed(self.combination.seed, self.number)

    def __str__(self) -> str:
        return f"{self.combination} fold {self.fold} trial {self.number}"


@dataclass(frozen=True, eq=False)
class Result:
    """Result of a trial.

    Args:
        trial: whose result it is.
        queries: metric -> one value a test query, nan where the metric is undefined.
        query_ids: names of the test queries.
        curve: the metrics on training and validation data after each iteration.
        record: timings, versions, fingerprints; plain values.
        failure: the traceback of a trial that failed, empty otherwise.
        not_run: whether the failure is no fault of the combination, so that nothing is recorded of it.
        model: what was fitted, in the process that fitted it; it is not stored.
        scores: of the test documents, where they are to be kept.
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
