"""Shared parts of engines that boost thresholds: the model, its file, and the scores of the weak rankers so far."""

from __future__ import annotations

import json
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Integers
from rankplug.training import Model, Part, Problem, Record, StepwiseLearner, train
from rankplug_classics.boosting import weak_rankers
from rankplug_classics.boosting.stumps import Stumps, Thresholds

NEARLY_SURE = 1.0 - 1e-6
"""Bounds the share by which a weak ranker is right, as one that is right on every pair would get an infinite weight."""


class StumpsModel(Model):
    """Weak rankers; the file is JSON."""

    suffix = ".json"

    def __init__(self, stumps: Stumps, record: Record) -> None:
        super().__init__(record)
        self.stumps = stumps

    def _scores(self, features: NDArray[np.float32], starts: Integers | None) -> NDArray[Any]:
        return self.stumps.scores(features)

    def encode(self, suffix: str) -> bytes:
        return json.dumps({"stumps": self.stumps.rankers}).encode()


class StumpsLearner(StepwiseLearner):
    """Weak rankers in the making."""

    unit = "round"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        settings = cast(weak_rankers.Stumps, problem.scorer_parameters)
        self.thresholds = Thresholds(problem.train.features, settings.thresholds)
        self.rankers: list[tuple[int, float, float]] = []
        self.now = {"train": np.zeros(problem.train.documents)}
        if problem.valid is not None:
            self.now["valid"] = np.zeros(problem.valid.documents)

    def take(self, feature: int, threshold: float, weight: float) -> None:
        """Add a weak ranker."""
        self.rankers.append((feature, threshold, weight))
        self.now["train"] = self.now["train"] + weight * self.thresholds.above(feature, threshold)
        if self.problem.valid is not None:
            above = self.problem.valid.features[:, feature] > np.float32(threshold)
            self.now["valid"] = self.now["valid"] + weight * above

    def scores(self, part: Part) -> NDArray[Any] | None:
        return self.now[part]

    def snapshot(self) -> int:
        return len(self.rankers)

    def model(self, snapshot: int, record: Record) -> StumpsModel:
        return StumpsModel(Stumps(self.rankers[:snapshot]), record)


class StumpsBackend:
    """A backend that boosts thresholds, by a learner of its own."""

    learner: ClassVar[type[StumpsLearner]]

    def fit(self, problem: Problem) -> Model:
        rounds = cast(weak_rankers.Stumps, problem.scorer_parameters).rounds
        return train(self.learner(problem), problem, rounds)

    def load(self, content: bytes, record: Record) -> StumpsModel:
        rankers = []
        for feature, threshold, weight in json.loads(content)["stumps"]:
            if feature not in range(record.features):
                raise ValueError(f"a stump of feature {feature!r}, of {record.features}")
            rankers.append((int(feature), float(threshold), float(weight)))
        return StumpsModel(Stumps(rankers), record)
