"""The training loop of all backends: it advances a learner, measures it and returns the model of the best iteration.

A backend defines one iteration (a tree, an epoch, a step of L-BFGS); early stopping, the learning curve, the progress
bar, interruption and divergence are the same for all and are implemented here.
"""

from __future__ import annotations

import abc
import contextlib
import functools
import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import DivergedError, FitError
from rankplug.losses import Evaluation
from rankplug.system import seen_at_once, whole_number
from rankplug.training._models import LearningCurve, Model, Record

if TYPE_CHECKING:
    from rankplug.training._fitting import Problem

Part = Literal["train", "valid"]
TOLERANCE = 1e-6
"""Difference of two values of a metric up to which they count as equal."""
LOSS = "loss"


class Observer(Protocol):
    """Callback after an iteration."""

    def __call__(self, iteration: int, candidate: bool = True) -> bool:
        """Observe an iteration; return True if training is to stop. Only a candidate may become the model."""


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
    """A learner that runs one iteration at a time."""

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
    """Return an evaluation after checking that the derivatives are finite, and the loss where it was computed."""
    for name, values in evaluation._asdict().items():
        if (valued or name != "value") and not np.isfinite(values.sum()):
            raise DivergedError(
                f"the {'loss' if name == 'value' else name} is no longer finite at iteration {iteration}; lower the"
                " learning rate or check the features"
            )
    return evaluation


def peak_memory() -> int:
    """Return the largest resident size of this process so far in bytes; 0 where the system does not report it."""
    try:
        import resource
    except ImportError:
        return 0
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


@dataclass
class Selection:
    """Best iteration so far; ``loss`` is better when lower, every metric when higher.

    Several metrics are compared in their order: the first that differs by more than ``TOLERANCE`` decides.

    >>> selection = Selection(("ndcg@1", "ndcg@3"), patience=2)
    >>> [selection.improves(i, m) for i, m in enumerate([(0.5, 0.4), (0.5, 0.5), (0.5 + 1e-9, 0.5), (0.4, 0.9)])]
    [True, True, False, False]
    >>> selection.best_iteration, selection.exhausted
    (1, True)

    Args:
        metrics: names, the first decides first.
        patience: iterations without improvement after which training stops; None never stops.
    """

    metrics: tuple[str, ...]
    patience: int | None = None
    best: tuple[float, ...] = ()
    best_iteration: int = -1
    waited: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if not self.metrics:
            raise FitError("name at least one metric to select by, such as ndcg@5")
        if self.patience is not None:
            whole_number(self.patience, "patience", least=1)

    def improves(self, iteration: int, values: Sequence[float]) -> bool:
        """Record an iteration's metrics, and return whether it is the best so far."""
        signed = tuple(-value if name == LOSS else value for name, value in zip(self.metrics, values, strict=True))
        if self.best and not _better(signed, self.best):
            self.waited += 1
            return False
        self.best, self.best_iteration, self.waited = signed, iteration, 0
        return True

    @property
    def exhausted(self) -> bool:
        """Whether patience has run out."""
        return self.patience is not None and self.waited >= self.patience

    def renew(self) -> None:
        """Reset patience; the best so far is still to be beaten."""
        self.waited = 0


def metric_names(selection: str | Iterable[str]) -> tuple[str, ...]:
    """Return one metric or several, as a tuple."""
    return (selection,) if isinstance(selection, str) else tuple(selection)


def _better(values: Sequence[float], best: Sequence[float]) -> bool:
    for value, old in zip(values, best, strict=True):
        if np.isnan(old) and not np.isnan(value):
            return True
        if abs(value - old) > TOLERANCE:
            return value > old
    return False


def is_watched() -> bool:
    """Return whether to show a progress bar: in a terminal or a notebook, but not under CI or in a worker."""
    if os.environ.get("CI"):
        return False
    if multiprocessing.current_process().name != "MainProcess":
        return False
    return threading.current_thread() is threading.main_thread() and seen_at_once()


def progress_bar(total: int, unit: str, show: bool | None) -> Any:
    """Return a bar of tqdm, or a context without one.

    Args:
        total: number of iterations at most.
        unit: unit of an iteration, such as ``tree``.
        show: whether to show it; by default only in a terminal or a notebook.
    """
    if not (is_watched() if show is None else show):
        return contextlib.nullcontext()
    from tqdm.auto import tqdm

    return tqdm(total=total, unit=unit, leave=False)


class _Training:
    def __init__(self, learner: Learner, problem: Problem) -> None:
        self.learner, self.problem = learner, problem
        self.curve = LearningCurve()
        self.selection = Selection(problem.metrics, problem.patience)
        self.best_snapshot: Any = None
        self.has_snapshot = False
        self.stopped = "finished"
        self.stage_began = 0
        self.watching = 0.0
        self.started = time.perf_counter()

    def run(self, iterations: int) -> Model:
        try:
            with progress_bar(iterations, self.learner.unit, self.problem.progress) as bar:
                self._stages(iterations, bar)
        except KeyboardInterrupt:
            if not self._has_model():
                raise
            self.stopped = "interrupted"
            warnings.warn(
                f"training was interrupted after {len(self.curve)} iterations; this is the best model so far",
                stacklevel=4,
            )
        except DivergedError as error:
            error.model = self.learner.model(self.best_snapshot, self._record()) if self._has_model() else None
            raise
        return self.learner.model(self.best_snapshot, self._record())

    def _stages(self, iterations: int, bar: Any) -> None:
        first, going = 0, True
        while going:
            self.stopped = (
                self.learner.stage(first, iterations, functools.partial(self._observe, bar=bar)) or self.stopped
            )
            if not self.has_snapshot:
                self._take_snapshot()
            improved = self.problem.valid is None or self.selection.best_iteration >= self.stage_began
            going = self.stopped != "callback" and self.learner.grow(self.best_snapshot, improved)
            first = self.stage_began = len(self.curve)
            self.selection.renew()

    def _observe(self, iteration: int, candidate: bool = True, *, bar: Any) -> bool:
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
            self._take_snapshot()
        if bar is not None:
            bar.set_postfix({name: f"{value:.4f}" for name, value in metrics.items()}, refresh=False)
            bar.update()
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

    def _has_model(self) -> bool:
        """Return whether there is a model to return; without any candidate so far, the last iteration is one."""
        if not self.has_snapshot and len(self.curve):
            self._take_snapshot()
        return self.has_snapshot

    def _take_snapshot(self) -> None:
        self.best_snapshot, self.has_snapshot = self.learner.snapshot(), True

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
