"""``fit``: any loss with any sampler and any scorer that a backend can fit.

A backend's implementation is an object with two methods::

    fit(problem: Problem) -> Model
    load(content: bytes, record: Record) -> Model       # what its Model.encode wrote

Which code fits a scorer is said by the scorer, ``fitted_by={"torch": "package.module:object"}``; what that object is,
is between the backend and the scorer and told in the backend's documentation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.data import Lists
from rankplug.errors import DataError, FitError
from rankplug.losses import Loss, Objective, Step
from rankplug.metrics import Metric
from rankplug.registry import (
    BackendSpecification,
    Named,
    Parameters,
    Reference,
    ScorerSpecification,
    import_object,
    parse,
    registry,
    require_packages,
)
from rankplug.samplers import Sampler
from rankplug.system import numbers, package_versions, stream, use_threads
from rankplug.training._models import Model, Record
from rankplug.training.debiasing.methods import Debiasing
from rankplug.training.selection import LOSS, metric_names

Callback = Callable[[int, Mapping[str, float]], object]
"""Called after every iteration with its number and metrics; training stops if it returns True."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """Description of a model: backend, scorer, loss and sampler, with names resolved and parameters checked."""

    backend: Reference
    backend_parameters: Parameters
    backend_specification: BackendSpecification
    scorer: Reference
    scorer_parameters: Parameters
    scorer_implementation: Any
    loss: Loss
    sampler: Sampler | None
    seed: int

    def for_data(self, queries: int, features: int) -> Self:
        """Return the recipe with those of its scorer's parameters that follow from the size of the training data."""
        filled = self.scorer_parameters.for_data(queries, features)
        new = {name: value for name, value in filled if value != getattr(self.scorer_parameters, name)}
        scorer = replace(self.scorer, parameters={**self.scorer.parameters, **new})
        return replace(self, scorer=scorer, scorer_parameters=filled)

    def record_with(self, train: Lists | None, valid: Lists | None, **facts: Any) -> Record:
        """Return how a model came about: the recipe, the data where they are here, and what training adds."""
        return Record(
            combination={
                "backend": str(self.backend),
                "scorer": str(self.scorer),
                "loss": str(self.loss),
                "sampler": None if self.sampler is None else str(self.sampler),
                "seed": self.seed,
            },
            data={
                "train": None if train is None else train.fingerprint,
                "valid": None if valid is None else valid.fingerprint,
            },
            **facts,
        )


@dataclass(frozen=True, eq=False)
class Problem(Recipe):
    """Description of a model to be fitted, with its data and how training is observed."""

    train: Lists
    valid: Lists | None
    weights: NDArray[np.float64] | None = None
    metrics: tuple[str, ...] = ("ndcg@5",)
    patience: int | None = None
    train_curve: bool = True
    callbacks: tuple[Callback, ...] = ()
    progress: bool | None = None
    positions: NDArray[np.int64] | None = None
    """Position at which each training document was shown, from 1; an engine's own objective debiases clicks by it."""

    def objective(self, step: Step = "gradient") -> Objective:
        """Return the loss bound to the training data."""
        return self.loss.on(
            self.train.labels,
            self.train.starts,
            sampler=self.sampler,
            weights=self.weights,
            seed=stream(self.seed, "noise"),
            step=step,
        )

    @cached_property
    def _metrics(self) -> dict[str, Metric]:
        return {name: Metric.named(name) for name in self.metrics if name != LOSS}

    def find_metrics(self) -> None:
        """Raise an error before any training if a metric that chooses the iteration does not exist."""
        self._metrics  # noqa: B018

    @cached_property
    def _valid_objective(self) -> Objective:
        assert self.valid is not None
        return self.loss.on(self.valid.labels, self.valid.starts, seed=stream(self.seed, "noise", "valid"))

    def measure(self, part: str, scores: NDArray[Any]) -> dict[str, float]:
        """Measure scores of a part, by names such as ``valid ndcg@5``; ``loss`` only of the validation part."""
        lists = self.train if part == "train" else self.valid
        assert lists is not None
        measured = {
            f"{part} {name}": metric.mean(scores, lists.labels, lists.starts) for name, metric in self._metrics.items()
        }
        if part == "valid" and LOSS in self.metrics:
            measured["valid loss"] = float(self._valid_objective(scores).value.mean())
        return measured

    def record(self, **facts: Any) -> Record:
        """Return how a model of this problem came about, with what training adds."""
        versions = package_versions(self.backend_specification.requires)
        facts |= {"features": self.train.features.shape[1], "feature_names": self.train.feature_names}
        return self.record_with(self.train, self.valid, versions=versions, **facts)


def fit(
    backend: Named,
    *,
    loss: Named | Loss,
    train: Lists,
    scorer: Named | None = None,
    sampler: Named | Sampler | None = None,
    valid: Lists | None = None,
    seed: int = 0,
    selection: str | Sequence[str] = "ndcg@5",
    patience: int | None = None,
    weights: ArrayLike | None = None,
    train_curve: bool = True,
    callbacks: Iterable[Callback] = (),
    progress: bool | None = None,
    debias: Named | Debiasing | None = None,
) -> Model:
    """Fit a scorer to a loss.

    Args:
        backend: the engine, such as ``"lightgbm"`` or ``"torch[lr=0.01]"``.
        loss: what is minimised, such as ``"xe_ndcg"``.
        train: the lists to learn from.
        scorer: what is fitted, such as ``"trees[leaves=31]"``; the backend's usual one when absent.
        sampler: averages the loss over noise on the scores, such as ``"gumbel[samples=8]"``.
        valid: the lists that choose the best iteration; without them the last one is kept.
        seed: of everything random in the trial.
        selection: the metric that chooses, or several, compared in their order; ``"loss"`` is the validation loss.
        patience: iterations without improvement after which training stops; None makes all of them.
        weights: one a training list or one a training document.
        train_curve: whether the metrics are computed on the training data too.
        callbacks: called after each iteration with its number and metrics; True stops.
        progress: whether to show a bar; by default in a terminal or a notebook.
        debias: takes the bias of positions out of the clicks that the lists carry, such as ``"ips"`` or ``"dual"``.
    """
    started = time.perf_counter()
    debiasing = None if debias is None else Debiasing.named(debias)
    problem = problem_of(backend, scorer, loss, sampler, train, valid, seed)
    problem = replace(
        problem,
        weights=None if weights is None else _list_weights(numbers(weights, "weights"), train),
        metrics=metric_names(selection),
        patience=patience,
        train_curve=train_curve,
        callbacks=_callable(callbacks),
        progress=progress,
    )
    problem.find_metrics()
    engine = problem.backend_specification.load()
    with use_threads():
        model: Model = engine.fit(problem) if debiasing is None else _debiased(problem, debiasing, engine.fit)
    model.record.seconds["total"] = time.perf_counter() - started
    return model


def problem_of(
    backend: Named,
    scorer: Named | None,
    loss: Named | Loss,
    sampler: Named | Sampler | None,
    train: Lists,
    valid: Lists | None,
    seed: int,
) -> Problem:
    """Return a problem with every name resolved, every parameter checked and the data known to fit the backend."""
    recipe = recipe_of(backend, scorer, loss, sampler, seed)
    for name, part in (("train", train), ("valid", valid)):
        if not isinstance(part, Lists) and not (part is None and name == "valid"):
            raise DataError(f"{name} must be rankplug.Lists, got {type(part).__name__}")
    check_data(recipe, train, valid)
    valid = valid if valid is not None and len(valid) else None
    recipe = recipe.for_data(len(train), train.features.shape[1])
    return Problem(**vars(recipe), train=train, valid=valid)


def recipe_of(
    backend: Named, scorer: Named | None, loss: Named | Loss, sampler: Named | Sampler | None, seed: int
) -> Recipe:
    """Return a recipe with every name resolved and every parameter checked."""
    engine, backend_parameters = registry().resolve("backend", backend)
    require_packages(engine)
    wanted = parse(scorer if scorer is not None else engine.default_scorer)
    space, scorer_parameters = registry().resolve("scorer", wanted)
    if engine.name not in space.fitted_by:
        fits = ", ".join(scorers_of(engine.name)) or "nothing that is installed"
        by = ", ".join(sorted(space.fitted_by)) or "no backend"
        raise FitError(
            f"backend {engine.name} cannot fit the scorer {space.name}: it fits {fits}; {space.name} is fitted by {by}"
        )
    return Recipe(
        backend=parse(backend),
        backend_parameters=backend_parameters,
        backend_specification=engine,
        scorer=wanted,
        scorer_parameters=scorer_parameters,
        scorer_implementation=import_object(space.fitted_by[engine.name], str(space)),
        loss=Loss.named(loss),
        sampler=None if sampler is None else Sampler.named(sampler),
        seed=seed,
    )


def check_data(recipe: Recipe, train: Lists, valid: Lists | None) -> None:
    """Raise where there is nothing to train on, or the backend cannot learn from the data."""
    if not len(train):
        raise DataError("there is no list to train on")
    if valid is not None and valid.features.shape[1] != train.features.shape[1]:
        raise DataError(
            f"training data have {train.features.shape[1]} features, validation data {valid.features.shape[1]}"
        )
    if valid is not None and (valid.feature_names, valid.categorical) != (train.feature_names, train.categorical):
        raise DataError("the features of training and validation data have other names, or others are categorical")
    if train.categorical and not recipe.backend_specification.categorical:
        raise DataError(
            f"{recipe.backend_specification} takes no categorical features; encode them as numbers, or take a backend"
            " that grows trees"
        )
    if not recipe.backend_specification.missing_values:
        for part in (train, valid):
            if part is not None:
                part.validate()


def _debiased(problem: Problem, debiasing: Debiasing, fit_plain: Callable[[Problem], Model]) -> Model:
    """Fit a problem whose lists carry clicks."""

    def fit_lists(train: Lists, valid: Lists | None, positions: NDArray[np.int64] | None) -> Model:
        if positions is not None and not getattr(problem.backend_parameters, "native", False):
            raise FitError(
                f"debias={debiasing} is for an engine's own objective, as of lightgbm[native=true] or"
                " xgboost[native=true]; with losses of rankplug take ips or dual"
            )
        return fit_plain(replace(problem, train=train, valid=valid, positions=positions))

    return debiasing.fit(problem.train, problem.valid, fit_lists)


def _callable(callbacks: Iterable[Callback]) -> tuple[Callback, ...]:
    functions = tuple(callbacks)
    for callback in functions:
        if not callable(callback):
            raise FitError(f"a callback must be a function of the iteration and its metrics, got {callback!r}")
    return functions


def _list_weights(weights: NDArray[np.float64], lists: Lists) -> NDArray[np.float64]:
    """Return one weight a list, where the documents of each list have the same."""
    if weights.shape != lists.labels.shape:
        return weights
    of_lists = weights[lists.starts[:-1]]
    return of_lists if np.array_equal(np.repeat(of_lists, lists.lengths), weights) else weights


def scorers_of(backend: str) -> list[str]:
    """Return the names of the scorers a backend can fit."""
    return [scorer.name for scorer in registry().specifications(ScorerSpecification) if backend in scorer.fitted_by]
