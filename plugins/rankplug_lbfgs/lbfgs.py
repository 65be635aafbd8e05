"""scipy's L-BFGS-B as a backend, with restarts for losses that are not convex.

Losses whose gradient is defined directly, such as ``lambdarank``, are the gradient of no function; the line search may
then find nothing lower and end a run early. Boosting and stochastic gradients suit them better.

Results are the same to the last bit on any number of threads: the scorer adds up in an order of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from rankplug.system import generator
from rankplug.training import Model, Problem, Record
from rankplug_lbfgs.plugin import LBFGSParameters
from rankplug_lbfgs.regularised import RegularisedLearner, Weights, WeightsModel, fit, read_model

RESTARTS_WHERE_NOT_CONVEX = 9
ENDS = {0: "tolerance", 1: "iterations"}
"""Why a run of scipy's ended, by its status; any other means that the line search ended without a lower value."""


def minimise(learner: RegularisedLearner, watch: Callable[[], bool]) -> None:
    """Leave the weights with the lowest objective over all starts in the learner."""
    best: tuple[float, Weights] | None = None

    def seen(intermediate_result: OptimizeResult) -> None:
        learner.w = np.array(intermediate_result.x)
        learner.loss = float(intermediate_result.fun) / len(learner.problem.train)
        if watch():
            raise StopIteration

    for start in starts(learner):
        learner.w = start
        solution = minimize(
            learner.regularised,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=seen,
            options={"maxiter": learner.settings.iterations, "ftol": learner.settings.tolerance, "gtol": 1e-7},
        )
        if best is None or solution.fun < best[0]:
            best = float(solution.fun), np.array(solution.x)
            learner.ended = ENDS.get(solution.status, "line search")
    assert best is not None
    learner.loss, learner.w = best[0] / len(learner.problem.train), best[1]


def starts(learner: RegularisedLearner) -> list[Weights]:
    """Return zero, and draws from N(0, 1/dimension)."""
    restarts = learner.settings.restarts
    if restarts is None:
        restarts = 0 if learner.problem.loss.specification.convex else RESTARTS_WHERE_NOT_CONVEX
    dimension = learner.scorer.weights
    noise = generator(learner.problem.seed, "initialisation")
    draws = noise.normal(scale=1.0 / np.sqrt(dimension), size=(restarts, dimension))
    return [np.zeros(dimension), *draws]


class LBFGS:
    """The backend ``lbfgs``."""

    def fit(self, problem: Problem) -> Model:
        return fit(problem, minimise, cast(LBFGSParameters, problem.backend_parameters).iterations)

    def load(self, content: bytes, record: Record) -> WeightsModel:
        return read_model(content, record, "lbfgs")


engine = LBFGS()
