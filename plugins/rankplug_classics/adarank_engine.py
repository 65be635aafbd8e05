r"""AdaRank as a backend (Xu and Li 2007).

Lists have weights ``P`` that add up to 1. Each round takes the feature ``x`` whose order has the best weighted measure,
:math:`\sum_q P_q E_q(x)`, with the weight :math:`\alpha = \frac12\ln\frac{\sum_q P_q(1+E_q(x))}{\sum_q P_q(1-E_q(x))}`,
and weighs each list anew by :math:`e^{-E_q(f)}` of all features so far, which is the loss ``adarank``. It ends early
where the same single feature would be taken for ever.

>>> SingleFeatures([(1, 0.5), (0, 2.0), (1, 0.25)]).scores(np.array([[1.0, 4.0]], np.float32))
array([5.])
"""

from __future__ import annotations

import json
import math
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Integers
from rankplug.errors import FitError
from rankplug.training import LOSS, Model, Part, Problem, Record, StepwiseLearner, train
from rankplug_classics.plugin import AdaRank as AdaRankMeasure
from rankplug_classics.plugin import SingleFeatures as SingleFeaturesParameters
from rankplug_classics.rankboost_engine import weights_of_lists


class SingleFeatures:
    """The weighted sum of some features, ``(feature, weight)`` each, of which one may come several times."""

    def __init__(self, rankers: list[tuple[int, float]]) -> None:
        self.rankers = rankers

    def scores(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return one score for each document."""
        total = np.zeros(features.shape[0])
        for feature, weight in self.rankers:
            total += weight * features[:, feature]
        return total


NEARLY_PERFECT = 1.0 - 1e-6
"""Bounds a weighted measure, as a feature that is right on every list would get an infinite weight."""


class SingleFeaturesModel(Model):
    """Weighted features; the file is JSON."""

    suffix = ".json"

    def __init__(self, single_features: SingleFeatures, record: Record) -> None:
        super().__init__(record)
        self.single_features = single_features

    def _scores(self, features: NDArray[np.float32], starts: Integers | None) -> NDArray[Any]:
        return self.single_features.scores(features)

    def encode(self, suffix: str) -> bytes:
        return json.dumps({"features": self.single_features.rankers}).encode()


class AdaRankLearner(StepwiseLearner):
    """Weighted features in the making."""

    unit = "round"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.objective = problem.objective()
        lists = problem.train
        self.given = weights_of_lists(problem)
        self.measures = np.array([self._measure(column, 0) for column in lists.features.T.astype(np.float64)])
        self.rankers: list[tuple[int, float]] = []
        self.now = {"train": np.zeros(lists.documents)}
        if problem.valid is not None:
            self.now["valid"] = np.zeros(problem.valid.documents)
        self.exponentials = np.ones(len(lists))

    def _measure(self, scores: NDArray[np.float64], iteration: int) -> NDArray[np.float64]:
        """Return the measure of each list's order; the loss is its exponential, times the list's weight."""
        values = self.objective(np.ascontiguousarray(scores), iteration=iteration, valued=True).value
        counted = self.given > 0
        measures = np.zeros(values.size)
        measures[counted] = -np.log(values[counted] / self.given[counted])
        return measures

    def advance(self, iteration: int) -> bool:
        law = self.given * self.exponentials
        law = law / law.sum()
        weighted = self.measures @ law
        feature = int(weighted.argmax())
        measure = min(float(weighted[feature]), NEARLY_PERFECT)
        if measure <= 0.0 or (self.rankers and {taken for taken, _ in self.rankers} == {feature}):
            return False
        weight = 0.5 * math.log((1.0 + measure) / (1.0 - measure))
        self.rankers.append((feature, weight))
        for part, lists in (("train", self.problem.train), ("valid", self.problem.valid)):
            if lists is not None:
                self.now[part] = self.now[part] + weight * lists.features[:, feature]
        self.exponentials = np.exp(-self._measure(self.now["train"], iteration))
        if LOSS in self.problem.metrics:
            self.loss = float((self.given * self.exponentials).mean())
        return True

    def scores(self, part: Part) -> NDArray[Any] | None:
        return self.now[part]

    def snapshot(self) -> int:
        return len(self.rankers)

    def model(self, snapshot: int, record: Record) -> SingleFeaturesModel:
        return SingleFeaturesModel(SingleFeatures(self.rankers[:snapshot]), record)


class AdaRank:
    """The backend ``adarank``."""

    def fit(self, problem: Problem) -> Model:
        if not isinstance(problem.loss.parameters, AdaRankMeasure):
            raise FitError(
                f"AdaRank takes features by a measure, which the loss adarank names, and {problem.loss} names none; use"
                " adarank[measure=map] or adarank[measure=ndcg], or another backend"
            )
        rounds = cast(SingleFeaturesParameters, problem.scorer_parameters).rounds
        return train(AdaRankLearner(problem), problem, rounds)

    def load(self, content: bytes, record: Record) -> SingleFeaturesModel:
        rankers = []
        for feature, weight in json.loads(content)["features"]:
            if feature not in range(record.features):
                raise ValueError(f"feature {feature!r}, of {record.features}")
            rankers.append((int(feature), float(weight)))
        return SingleFeaturesModel(SingleFeatures(rankers), record)


engine = AdaRank()
