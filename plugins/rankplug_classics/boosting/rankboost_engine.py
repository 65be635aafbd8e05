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

import math

import numpy as np
from numpy.typing import NDArray

from rankplug.training import LOSS, Problem, checked
from rankplug_classics.boosting.stumps_learner import NEARLY_SURE, StumpsBackend, StumpsLearner
from rankplug_classics.parameters import RankBoost as RankBoostLaw


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
