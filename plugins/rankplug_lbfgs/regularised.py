"""The objective both engines of this package minimise: the sum of the lists' losses plus ``|w|^2 / C``.

A scorer they fit names a class under ``fitted_by["lbfgs"]`` (or ``["cutting_planes"]``) that is called with
``(parameters, features: int)`` and has ``weights``, how many there are; ``scores(w, features)``; and
``pullback(gradient, features)``, the gradient of the weights from that of the scores. Neither may depend on the number
of threads, not even in the last bit, which many steps of a search make large.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Integers, Scaling
from rankplug.errors import FitError
from rankplug.registry import import_object, registry
from rankplug.system import check_memory
from rankplug.training import Learner, Model, Observer, Part, Problem, Record, checked, train
from rankplug_lbfgs.plugin import CuttingPlanesParameters, LBFGSParameters

Weights = NDArray[np.float64]


class WeightsModel(Model):
    """Weights of a scorer such as a linear one; the file is JSON."""

    suffix = ".json"

    def __init__(self, scorer: Any, weights: Weights, scaling: Scaling, record: Record) -> None:
        super().__init__(record)
        self.scorer, self.weights, self.scaling = scorer, weights, scaling

    def _scores(self, features: NDArray[np.float32], starts: Integers | None) -> NDArray[Any]:
        return np.asarray(self.scorer.scores(self.weights, self.scaling(features)))

    def linear_weights(self) -> Weights | None:
        if not getattr(self.scorer, "linear", False) or self.scaling.kind == "log":
            return None
        # The centre adds the same to all scores.
        return self.weights if self.scaling.kind is None else self.weights / self.scaling.deviation

    def onnx_graph(self) -> bytes | None:
        from rankplug_export.onnx_graphs import onnx_linear

        return onnx_linear(self.weights, self.scaling) if getattr(self.scorer, "linear", False) else None

    def encode(self, suffix: str) -> bytes:
        scaling = {} if self.scaling.kind is None else {"scaling": self.scaling.describe()}
        facts = {"scorer": self.record.combination["scorer"], "weights": self.weights.tolist()}
        return json.dumps(facts | scaling).encode()


def read_model(content: bytes, record: Record, backend: str) -> WeightsModel:
    """Read a model from the content of its file."""
    space, parameters = registry().resolve("scorer", record.combination["scorer"])
    scorer = import_object(space.fitted_by[backend], str(space))(parameters, record.features)
    written = json.loads(content)
    weights = np.asarray(written["weights"], np.float64)
    scaling = Scaling.read(written["scaling"]) if "scaling" in written else Scaling()
    if weights.shape != (scorer.weights,):
        raise ValueError(f"{scorer.weights} weights expected, got {weights.size}")
    return WeightsModel(scorer, weights, scaling, record)


class RegularisedLearner(Learner):
    """A minimiser that runs for one value of C after another; the end of each run is a candidate.

    Args:
        problem: what is to be fitted.
        minimise: runs the engine for the learner's present ``C``, calls the observer after each of its iterations and
            leaves the best weights in ``w`` and why their run ended in ``ended``.
    """

    unit = "step"

    def __init__(self, problem: Problem, minimise: Callable[[RegularisedLearner, Callable[[], bool]], None]) -> None:
        self.problem, self.minimise = problem, minimise
        self.settings: Any = problem.backend_parameters
        self.scorer = problem.scorer_implementation(problem.scorer_parameters, problem.train.features.shape[1])
        self.objective = problem.objective()
        parameters = cast(LBFGSParameters | CuttingPlanesParameters, self.settings)
        self.scaling = Scaling.of(parameters.scaling, problem.train.features)
        if self.scaling.kind is not None:
            entries = sum(part.features.size for part in (problem.train, problem.valid) if part is not None)
            advice = "train on fewer queries, or with scaling=none"
            check_memory(4 * entries, str(problem.backend_specification), advice)
        self.features = {"train": self.scaling(problem.train.features)}
        if problem.valid is not None:
            self.features["valid"] = self.scaling(problem.valid.features)
        choices = parameters.C if isinstance(parameters.C, tuple) else (parameters.C,)
        if len(choices) > 1 and problem.valid is None:
            raise FitError("several values of C need validation data to choose from; give valid, or one C")
        if not choices or min(choices) <= 0:
            raise FitError(f"C must be above 0, got {parameters.C}")
        self.choices = list(choices)
        self.C = self.choices.pop(0)
        self.w: Weights = np.zeros(self.scorer.weights)
        self.last: tuple[Weights, NDArray[np.float64]] | None = None
        self.steps_taken = 0
        self.ended = "finished"

    def risk(self, w: Weights) -> tuple[float, Weights]:
        """Return the sum of the lists' losses and its gradient; noise, if any, is the same draw each time."""
        features = self.features["train"]
        self.last = w.copy(), self.scorer.scores(w, features)
        evaluation = checked(self.objective(self.last[1]), self.steps_taken)
        return float(evaluation.value.sum()), self.scorer.pullback(evaluation.gradient, features)

    def regularised(self, w: Weights) -> tuple[float, Weights]:
        """Return the whole objective and its gradient."""
        risk, gradient = self.risk(w)
        return risk + float(w @ w) / self.C, gradient + 2.0 / self.C * w

    def stage(self, first: int, iterations: int, observe: Observer) -> str:
        self.steps_taken = first
        stopped = False

        def watch() -> bool:
            nonlocal stopped
            stopped = observe(self.steps_taken, candidate=False)
            self.steps_taken += 1
            return stopped

        self.minimise(self, watch)
        if stopped:
            return ""
        observe(self.steps_taken, candidate=True)
        return "finished"

    def grow(self, snapshot: Any, improved: bool) -> bool:
        if not self.choices:
            return False
        self.C = self.choices.pop(0)
        return True

    def scores(self, part: Part) -> NDArray[Any] | None:
        if part == "train" and self.last is not None and np.array_equal(self.w, self.last[0]):
            return self.last[1]
        return np.asarray(self.scorer.scores(self.w, self.features[part]))

    def snapshot(self) -> tuple[Weights, float, str]:
        return self.w.copy(), self.C, self.ended

    def model(self, snapshot: tuple[Weights, float, str], record: Record) -> Model:
        weights, chosen, ended = snapshot
        record.chosen["C"] = chosen
        if record.stopped == "finished":
            record = replace(record, stopped=ended)
        return WeightsModel(self.scorer, weights, self.scaling, record)


def fit(problem: Problem, minimise: Callable[[RegularisedLearner, Callable[[], bool]], None], iterations: int) -> Model:
    """Train with a minimiser for at most a number of iterations."""
    if problem.weights is not None and problem.weights.size != len(problem.train):
        raise FitError(
            f"{problem.backend_specification} needs the loss itself, which has one weight a list; weights that differ"
            " inside a list are for backends that take steps along the gradient only"
        )
    return train(RegularisedLearner(problem, minimise), problem, iterations)
