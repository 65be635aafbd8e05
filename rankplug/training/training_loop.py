"""The loop that all backends share: it advances a learner, watches metrics, keeps the best and makes the model.

A backend says how one iteration is made (a tree, an epoch, a step of L-BFGS); early stopping, the learning curve, the
progress bar, interruption and divergence are the same everywhere and live here.
"""

from __future__ import annotations

import abc
import functools
import sys
import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import DivergedError
from rankplug.losses import Evaluation
from rankplug.training._models import LearningCurve, Model, Record
from rankplug.training.progress_bar import ProgressBar
from rankplug.training.selection import Selection

if TYPE_CHECKING:
    from rankplug.training.fitting import Problem

Part = Literal["train", "valid"]


class Observer(Protocol):
    """Callback for an iteration that was made."""

    def __call__(self, iteration: int, candidate: bool = True) -> bool:
        """Observe an iteration; return True if training is to stop. Only a candidate may become the kept model."""


class Learner(abc.ABC):
    """A model in the making."""

    unit = "iteration"
    """Unit of an iteration, for the progress bar."""
    loss = float("nan")
    """Mean loss of a training list in the last iteration, where it is known."""

    @abc.abstractmethod
    def stage(self, first: int, iterations: int, observe: Observer) -> str:
        """Train some iterations, observing each, until there are enough or the observer stops them.

        Args:
            first: number of the first one.
            iterations: how many at most.
            observe: to be called after each.

        Returns:
            why it ended, or nothing if the observer ended it.
        """

    @abc.abstractmethod
    def scores(self, part: Part) -> NDArray[Any] | None:
        """Return the scores of a part of the data under the present model; None where they are not available."""

    @abc.abstractmethod
    def snapshot(self) -> Any:
        """Return what is needed to restore the present model."""

    @abc.abstractmethod
    def model(self, snapshot: Any, record: Record) -> Model:
        """Return the model of a snapshot."""

    def grow(self, snapshot: Any, improved: bool) -> bool:
        """Start a next stage from the best model so far; return False if there is none.

        Args:
            snapshot: of the best model.
            improved: whether the last stage brought it.
        """
        return False


class StepwiseLearner(Learner):
    """A learner that makes one iteration when it is told to."""

    @abc.abstractmethod
    def advance(self, iteration: int) -> bool:
        """Train one more iteration; return False if nothing was left to learn."""

    def stage(self, first: int, iterations: int, observe: Observer) -> str:
        for iteration in range(first, first + iterations):
            if not self.advance(iteration):
                return "exhausted"
            if observe(iteration):
                return ""
        return "finished"


def train(learner: Learner, problem: Problem, iterations: int) -> Model:
    """Train a learner for at most ``iterations`` a stage, and return the best model on the way."""
    return _Training(learner, problem).run(iterations)


def checked(evaluation: Evaluation, iteration: int, valued: bool = True) -> Evaluation:
    """Return an evaluation after checking that the derivatives are finite, and the loss where it was asked for."""
    for name, values in evaluation._asdict().items():
        if (valued or name != "value") and not np.isfinite(values.sum()):
            raise DivergedError(
                f"the {'loss' if name == 'value' else name} is no longer finite at iteration {iteration}; lower the"
                " learning rate or check the features"
            )
    return evaluation


def peak_memory() -> int:
    """Return the largest resident size of this process so far in bytes; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


class _Training:
    def __init__(self, learner: Learner, problem: Problem) -> None:
        self.learner, self.problem = learner, problem
        self.curve = LearningCurve()
        self.selection = Selection(problem.metrics, problem.patience)
        self.kept: Any = None
        self.keeps = False
        self.stopped = "finished"
        self.stage_began = 0
        self.watching = 0.0
        self.started = time.perf_counter()

    def run(self, iterations: int) -> Model:
        try:
            with ProgressBar(iterations, self.learner.unit, self.problem.progress) as bar:
                self._stages(iterations, bar)
        except KeyboardInterrupt:
            if not self._has_something():
                raise
            self.stopped = "interrupted"
            warnings.warn(
                f"training was interrupted after {len(self.curve)} iterations; this is the best model so far",
                stacklevel=4,
            )
        except DivergedError as error:
            error.model = self.learner.model(self.kept, self._record()) if self._has_something() else None
            raise
        return self.learner.model(self.kept, self._record())

    def _stages(self, iterations: int, bar: ProgressBar) -> None:
        first, going = 0, True
        while going:
            self.stopped = (
                self.learner.stage(first, iterations, functools.partial(self._observe, bar=bar)) or self.stopped
            )
            if not self.keeps:
                self._keep()
            improved = self.problem.valid is None or self.selection.best_iteration >= self.stage_began
            going = self.stopped != "callback" and self.learner.grow(self.kept, improved)
            first = self.stage_began = len(self.curve)
            self.selection.renew()

    def _observe(self, iteration: int, candidate: bool = True, *, bar: ProgressBar) -> bool:
        """Record the metrics of an iteration; return True if training is to stop."""
        began = time.perf_counter()
        metrics: dict[str, float] = {}
        if np.isfinite(self.learner.loss):
            metrics["train loss"] = self.learner.loss
        if self.problem.train_curve:
            metrics |= self._measure("train")
        if self.problem.valid is not None:
            metrics |= self._measure("valid")
        self.curve.add(iteration, metrics)
        if candidate and self._improves(iteration, metrics):
            self._keep()
        bar.step(metrics)
        answers = [callback(iteration, metrics) for callback in self.problem.callbacks]
        self.watching += time.perf_counter() - began
        if any(answer is True for answer in answers):
            self.stopped = "callback"
        elif candidate and self.selection.exhausted:
            self.stopped = "patience"
        else:
            return False
        return True

    def _improves(self, iteration: int, metrics: Mapping[str, float]) -> bool:
        if self.problem.valid is None:
            return True
        return self.selection.improves(iteration, [metrics[f"valid {name}"] for name in self.problem.metrics])

    def _measure(self, part: Part) -> Mapping[str, float]:
        scores = self.learner.scores(part)
        return {} if scores is None else self.problem.measure(part, scores)

    def _has_something(self) -> bool:
        """Tell whether there is a model to return; where no candidate has been seen yet, the last iteration is one."""
        if not self.keeps and len(self.curve):
            self._keep()
        return self.keeps

    def _keep(self) -> None:
        self.kept, self.keeps = self.learner.snapshot(), True

    def _record(self) -> Record:
        total = time.perf_counter() - self.started
        selected = self.problem.valid is not None and self.selection.best_iteration >= 0
        return self.problem.record(
            curve=self.curve,
            iterations=len(self.curve),
            best_iteration=self.selection.best_iteration if selected else max(len(self.curve) - 1, 0),
            stopped=self.stopped,
            seconds={"training": total - self.watching, "watching": self.watching},
            peak_memory=peak_memory(),
        )
