r"""FRank as a backend (Tsai, Liu, Qin, Chen, Ma 2007).

The score is a sum of weak rankers :math:`h \in \{0, 1\}`, each a threshold on a feature, and the fidelity loss of pairs
is summed so that all lists weigh alike. A pair with :math:`y_i > y_j` that a weak ranker parts has
:math:`m_{ij} = h(i) - h(j) = \pm 1` and the weight

.. math:: W_{ij} = D_{ij}\,\frac{e^{o/2}}{(1 + e^o)^{3/2}},\quad o = f_i - f_j,\quad D_{ij} = \frac1{\#\ \text{pairs}},

twice the slope of its loss. It would enter with

.. math:: \alpha = \frac12\ln\frac{\sum_{m=1} W}{\sum_{m=-1} W},

where the loss is least if weights fall by :math:`e^{-\alpha}` and grow by :math:`e^{\alpha}`. Each round takes the weak
ranker that leaves the least loss after its step, and training ends early where none lowers it.

The loss is the published one, as are the additive model and the normalisation by query. The step is derived from them
here, and could not be held against the paper's own text, from which it may differ.
"""

from __future__ import annotations

import numpy as np

from rankplug.errors import FitError
from rankplug.training import LOSS, Model, Problem
from rankplug_classics.boosting.fidelity_steps import FidelitySteps
from rankplug_classics.boosting.list_weights import weights_of_lists
from rankplug_classics.boosting.stumps_learner import StumpsBackend, StumpsLearner
from rankplug_classics.parameters import Fidelity


class FRankLearner(StumpsLearner):
    """Weak rankers in the making."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.objective = problem.objective()
        lists, pairs = problem.train, np.ones(len(problem.train))
        if problem.loss.parameters.mean:  # type: ignore[attr-defined]
            counts = [np.unique(labels, return_counts=True)[1] for labels in np.split(lists.labels, lists.starts[1:-1])]
            pairs = np.array([max(1, (count.sum() ** 2 - (count**2).sum()) // 2) for count in counts])
        self.steps = FidelitySteps(lists, self.thresholds, weights_of_lists(problem) / pairs)

    def advance(self, iteration: int) -> bool:
        if LOSS in self.problem.metrics:
            self.loss = float(self.objective(self.now["train"], iteration=iteration, valued=True).value.mean())
        step = self.steps.best(self.now["train"])
        if step is None:
            return False
        self.take(step.feature, step.threshold, step.weight)
        return True


class FRank(StumpsBackend):
    """The backend ``frank``."""

    learner = FRankLearner

    def fit(self, problem: Problem) -> Model:
        if not isinstance(problem.loss.parameters, Fidelity):
            raise FitError(f"FRank takes steps of the fidelity loss, not of {problem.loss}; use fidelity, or rankboost")
        if problem.sampler is not None:
            raise FitError("FRank's steps are of the scores themselves; leave the sampler away, or use rankboost")
        return super().fit(problem)


engine = FRank()
