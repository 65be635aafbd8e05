r"""RankBoost as a backend (Freund, Iyer, Schapire, Singer 2003).

With pair weights ``D`` that add up to 1, a weak ranker ``h`` in {0, 1} has :math:`r = \sum D_{ij}(h(i) - h(j))` and
enters with the weight :math:`\alpha = \frac12\ln\frac{1+r}{1-r}`. The sum is that of minus the loss's gradient over
the documents where ``h`` is 1, so any loss will do; ``rankboost`` is the paper's, whose curvature says what its pair
weights add up to, by which r is divided. With another loss r is divided by the number of lists, or by the sum of the
pulls where that is larger. Pulls on a whole list rank nothing: where a loss has such, their mean is taken off in each
list.

A scorer it fits names the class of such sums under ``fitted_by["rankboost"]``. Results are the same for any number of
threads.
"""

from __future__ import annotations

import json
import math
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Integers
from rankplug.training import LOSS, Model, Part, Problem, Record, StepwiseLearner, checked, train
from rankplug_classics.boosting import weak_rankers
from rankplug_classics.boosting.stumps import Stumps, Thresholds
from rankplug_classics.parameters import RankBoost as RankBoostLaw

NEARLY_SURE = 1.0 - 1e-6
"""Bounds r, as a weak ranker that is right on every pair would get an infinite weight."""


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


class RankBoostLearner(StepwiseLearner):
    """Weak rankers in the making."""

    unit = "round"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        settings = cast(weak_rankers.Stumps, problem.scorer_parameters)
        self.thresholds = Thresholds(problem.train.features, settings.thresholds)
        self.objective = problem.objective()
        self.rankers: list[tuple[int, float, float]] = []
        self.now = {"train": np.zeros(problem.train.documents)}
        if problem.valid is not None:
            self.now["valid"] = np.zeros(problem.valid.documents)

    def advance(self, iteration: int) -> bool:
        valued = LOSS in self.problem.metrics
        evaluation = checked(self.objective(self.now["train"], iteration=iteration, valued=valued), iteration, valued)
        if valued:
            self.loss = float(evaluation.value.mean())
        pulls = self._pulls(evaluation.gradient)
        feature, threshold, agreement = self.thresholds.best(pulls)
        if agreement == 0.0:
            return False
        r = agreement / self._weight_of_pairs(pulls, evaluation.curvature)
        r = max(-NEARLY_SURE, min(NEARLY_SURE, r))
        weight = 0.5 * math.log((1.0 + r) / (1.0 - r))
        self.rankers.append((feature, threshold, weight))
        self.now["train"] = self.now["train"] + weight * self.thresholds.above(feature, threshold)
        if self.problem.valid is not None:
            above = self.problem.valid.features[:, feature] > np.float32(threshold)
            self.now["valid"] = self.now["valid"] + weight * above
        return True

    def _pulls(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus the gradient of each document, relative to the others of its list."""
        lists = self.problem.train
        if self.problem.loss.specification.shift_invariant:
            return -gradient
        means = np.add.reduceat(gradient, lists.starts[:-1]) / lists.lengths
        return np.repeat(means, lists.lengths) - gradient

    def _weight_of_pairs(self, pulls: NDArray[np.float64], curvature: NDArray[np.float64]) -> float:
        """Return what the weights of all pairs add up to, or a bound of it for losses that have no such weights."""
        if isinstance(self.problem.loss.parameters, RankBoostLaw):
            return float(curvature.sum()) / 2  # A pair's weight is in the curvature of both its documents.
        of_lists = np.add.reduceat(np.abs(pulls), self.problem.train.starts[:-1]) > 0
        weights = self.problem.weights
        counted = of_lists.sum() if weights is None or weights.size != of_lists.size else weights[of_lists].sum()
        return max(float(counted), float(pulls[pulls > 0].sum()), float(-pulls[pulls < 0].sum()))

    def scores(self, part: Part) -> NDArray[Any] | None:
        return self.now[part]

    def snapshot(self) -> int:
        return len(self.rankers)

    def model(self, snapshot: int, record: Record) -> StumpsModel:
        return StumpsModel(Stumps(self.rankers[:snapshot]), record)


class RankBoost:
    """The backend ``rankboost``."""

    def fit(self, problem: Problem) -> Model:
        rounds = cast(weak_rankers.Stumps, problem.scorer_parameters).rounds
        return train(RankBoostLearner(problem), problem, rounds)

    def load(self, content: bytes, record: Record) -> StumpsModel:
        rankers = []
        for feature, threshold, weight in json.loads(content)["stumps"]:
            if feature not in range(record.features):
                raise ValueError(f"a stump of feature {feature!r}, of {record.features}")
            rankers.append((int(feature), float(threshold), float(weight)))
        return StumpsModel(Stumps(rankers), record)


engine = RankBoost()
