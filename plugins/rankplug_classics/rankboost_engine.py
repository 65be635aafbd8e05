r"""RankBoost as a backend (Freund, Iyer, Schapire, Singer 2003).

With pair weights ``D`` that add up to 1, a weak ranker ``h`` in {0, 1} has :math:`r = \sum D_{ij}(h(i) - h(j))` and
enters with the weight :math:`\alpha = \frac12\ln\frac{1+r}{1-r}`. The sum is that of minus the loss's gradient over
the documents where ``h`` is 1, so any loss will do; ``rankboost`` is the paper's, whose curvature says what its pair
weights add up to, by which r is divided. With another loss r is divided by the number of lists, or by the sum of the
pulls where that is larger. Pulls on a whole list rank nothing: where a loss has such, their mean is taken off in each
list.

A scorer it fits names the class of such sums under ``fitted_by["rankboost"]``. Results are the same for any number of
threads.

:class:`StumpsLearner` and :class:`StumpsBackend` also serve :mod:`rankplug_classics.frank_engine`.

>>> bins = Thresholds(np.array([[1.0], [2.0], [3.0]], np.float32), 255)
>>> bins.best(np.array([-1.0, -0.5, 1.5]))
(0, 2.0, 1.5)
"""

from __future__ import annotations

import json
import math
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction
from rankplug.data import Integers
from rankplug.training import LOSS, Model, Part, Problem, Record, StepwiseLearner, checked, train
from rankplug_classics.plugin import RankBoost as RankBoostLaw
from rankplug_classics.plugin import Stumps as StumpsParameters


class Thresholds:
    """The thresholds of every feature, and the documents' places among them; a byte an entry.

    Args:
        features: one row a document.
        number: thresholds of a feature at most; quantiles where it has more values.
    """

    def __init__(self, features: NDArray[np.float32], number: int) -> None:
        self.of_feature = [_thresholds(column, number) for column in features.T]
        self.places = np.empty((features.shape[1], features.shape[0]), np.uint8)
        for feature, thresholds in enumerate(self.of_feature):
            self.places[feature] = np.searchsorted(thresholds, features[:, feature], side="left")

    def best(self, pulls: NDArray[np.float64]) -> tuple[int, float, float]:
        """Return the feature, threshold and sum of pulls above it, of the weak ranker whose sum is farthest from 0."""
        counts = np.array([thresholds.size for thresholds in self.of_feature])
        feature, index, total = _farthest(self.places, counts, pulls)
        threshold = float(self.of_feature[feature][index]) if total else 0.0
        return int(feature), threshold, float(total)

    def above(self, feature: int, threshold: float) -> NDArray[np.bool_]:
        """Return which documents are above one of the thresholds."""
        return self.places[feature] > np.searchsorted(self.of_feature[feature], threshold)


class Stumps:
    """The sum of weak rankers ``(feature, threshold, weight)``."""

    def __init__(self, rankers: list[tuple[int, float, float]]) -> None:
        self.rankers = rankers

    def scores(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return one score for each document."""
        total = np.zeros(features.shape[0])
        for feature, threshold, weight in self.rankers:
            total += weight * (features[:, feature] > np.float32(threshold))
        return total


def _thresholds(column: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    """Return the values of the feature that have documents on either side; quantiles if there are too many."""
    values = np.unique(column)
    if values.size - 1 > number:
        values = np.unique([*np.quantile(column, np.linspace(0, 1, number + 2)[1:-1], method="lower"), values[-1]])
    return values[:-1].astype(np.float32)


@ArrayFunction
def _farthest(bins, counts, pulls):
    """Find the feature and threshold whose documents above it have the sum of pulls farthest from 0."""
    best_feature, best_place, best = 0, 0, 0.0
    sums = np.empty(256)
    for feature in range(bins.shape[0]):
        sums[:] = 0.0
        for document in range(pulls.size):
            sums[bins[feature, document]] += pulls[document]
        above = 0.0
        for position in range(counts[feature] - 1, -1, -1):
            above += sums[position + 1]
            if abs(above) > abs(best):
                best_feature, best_place, best = feature, position, above
    return best_feature, best_place, best


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
        settings = cast(StumpsParameters, problem.scorer_parameters)
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
        rounds = cast(StumpsParameters, problem.scorer_parameters).rounds
        return train(self.learner(problem), problem, rounds)

    def load(self, content: bytes, record: Record) -> StumpsModel:
        rankers = []
        for feature, threshold, weight in json.loads(content)["stumps"]:
            if feature not in range(record.features):
                raise ValueError(f"a stump of feature {feature!r}, of {record.features}")
            rankers.append((int(feature), float(threshold), float(weight)))
        return StumpsModel(Stumps(rankers), record)


def weights_of_lists(problem: Problem) -> NDArray[np.float64]:
    """Return the weight of each training list: as given, the mean of its documents', or 1."""
    lists, given = problem.train, problem.weights
    if given is None:
        return np.ones(len(lists))
    if given.size == len(lists):
        return given
    return np.add.reduceat(given, lists.starts[:-1]) / lists.lengths


class RankBoostLearner(StumpsLearner):
    """Weak rankers in the making."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.objective = problem.objective()

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
        self.take(feature, threshold, weight)
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


class RankBoost(StumpsBackend):
    """The backend ``rankboost``."""

    learner = RankBoostLearner


engine = RankBoost()
