"""``fit``: any loss with any sampler and any scorer that a backend can fit.

A backend's implementation is an object with these methods, of which ``threads`` is optional::

    fit(problem: Problem) -> Model
    load(content: bytes, record: Record) -> Model       # the inverse of Model.encode
    threads(problem: Problem) -> int                    # number of threads that a fit is worth

A scorer names the code that fits it, ``fitted_by={"torch": "package.module:object"}``; each backend documents what that
object must be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.data import Encoding, Lists
from rankplug.errors import DataError, FitError
from rankplug.losses import Loss, Objective, Step, list_weights
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
from rankplug.training._training_loop import LOSS, metric_names

Callback = Callable[[int, Mapping[str, float]], object]
"""Called after every iteration with its number and metrics; training stops if it returns True."""
FitLists = Callable[[Lists, Lists | None, NDArray[np.int64] | None], Model]
"""Fits training and validation lists; positions of documents are for an engine's own objective that debiases."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A model to be fitted: names resolved, parameters checked, data that fit the backend, and how it is observed."""

    backend: Reference
    backend_parameters: Parameters
    backend_specification: BackendSpecification
    scorer: Reference
    scorer_parameters: Parameters
    scorer_implementation: Any
    loss: Loss
    sampler: Sampler | None
    seed: int
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
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Levels of the data's categorical features."""
    encoding: Encoding | None = None
    """Change of the data's features into those of the lists here, where the engine needs plain numbers."""

    @classmethod
    def of(
        cls,
        backend: Named,
        *,
        loss: Named | Loss,
        train: Lists,
        scorer: Named | None = None,
        sampler: Named | Sampler | None = None,
        valid: Lists | None = None,
        seed: int = 0,
        **observation: Any,
    ) -> Problem:
        """Return a problem, or raise an error before any training.

        Args:
            backend: name of the backend.
            loss: name of the loss.
            train: training data.
            scorer: name of the scorer; the backend's default when absent.
            sampler: name of the sampler.
            valid: validation data; without any list it counts as absent.
            seed: random seed.
            observation: further fields.
        """
        engine, backend_parameters = registry().resolve("backend", backend)
        require_packages(engine)
        reference = parse(scorer if scorer is not None else engine.default_scorer)
        space, parameters = registry().resolve("scorer", reference)
        if engine.name not in space.fitted_by:
            fits = ", ".join(scorers_of(engine.name)) or "nothing that is installed"
            by = ", ".join(sorted(space.fitted_by)) or "no backend"
            raise FitError(
                f"backend {engine.name} cannot fit the scorer {space.name}: it fits {fits}; {space.name} is fitted by"
                f" {by}"
            )
        bound_loss, bound_sampler = Loss.named(loss), None if sampler is None else Sampler.named(sampler)
        valid = check_data(train, valid)
        categories, encoding = train.categories, None
        takes_all = engine.missing_values and engine.categorical and not space.complete
        if isinstance(train, Lists) and not takes_all:
            encoding = Encoding.of(train)
            train, valid = encoding.lists(train), None if valid is None else encoding.lists(valid)
        if not engine.missing_values:
            for part in (train, valid):
                if part is not None:
                    part.validate()
        filled = parameters.for_data(len(train), train.features.shape[1])
        defaults = {name: value for name, value in filled if value != getattr(parameters, name)}
        problem = cls(
            backend=parse(backend),
            backend_parameters=backend_parameters,
            backend_specification=engine,
            scorer=replace(reference, parameters={**reference.parameters, **defaults}),
            scorer_parameters=filled,
            scorer_implementation=import_object(space.fitted_by[engine.name], str(space)),
            loss=bound_loss,
            sampler=bound_sampler,
            seed=seed,
            train=train,
            valid=valid if valid is not None and len(valid) else None,
            categories=categories,
            encoding=encoding,
            **observation,
        )
        problem._metrics  # noqa: B018 (raises an error for an unknown metric)
        return problem

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
        """Return the provenance of a model of this problem.

        Args:
            facts: fields of :class:`Record` that training adds.
        """
        return Record(
            combination={
                "backend": str(self.backend),
                "scorer": str(self.scorer),
                "loss": str(self.loss),
                "sampler": None if self.sampler is None else str(self.sampler),
                "seed": self.seed,
            },
            data={
                "train": self.train.fingerprint,
                "valid": None if self.valid is None else self.valid.fingerprint,
                **({"columns": dict(self.train.columns)} if self.train.columns else {}),
            },
            features=self.train.features.shape[1],
            feature_names=self.train.feature_names,
            categories=self.categories,
            encoding=self.encoding,
            versions=package_versions(self.backend_specification.requires),
            **facts,
        )


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
    debias: Named | None = None,
) -> Model:
    """Fit a scorer to a loss.

    Args:
        backend: the engine, such as ``"lightgbm"`` or ``"torch[lr=0.01]"``.
        loss: the loss to minimise, such as ``"xe_ndcg"``.
        train: the lists to learn from.
        scorer: the scorer to fit, such as ``"trees[leaves=31]"``; the backend's default when absent.
        sampler: averages the loss over noise on the scores, such as ``"gumbel[samples=8]"``.
        valid: the lists that select the best iteration; without them the last one is used.
        seed: random seed.
        selection: the metric that selects, or several, compared in their order; ``"loss"`` is the validation loss.
        patience: iterations without improvement after which training stops; None runs all of them.
        weights: float array of shape (lists,) or (documents,); see :class:`rankplug.losses.Objective` for weights that
            differ within a list.
        train_curve: whether the metrics are computed on the training data too.
        callbacks: called after each iteration with its number and metrics; True stops.
        progress: whether to show a bar; by default in a terminal or a notebook.
        debias: takes the bias of positions out of the clicks that the lists carry, such as ``"ips"`` or ``"dual"``.
    """
    started = time.perf_counter()
    for name, part in (("train", train), ("valid", valid)):
        if not isinstance(part, Lists) and not (part is None and name == "valid"):
            raise DataError(f"{name} must be rankplug.Lists, got {type(part).__name__}")
    problem = Problem.of(
        backend,
        loss=loss,
        train=train,
        scorer=scorer,
        sampler=sampler,
        valid=valid,
        seed=seed,
        weights=None if weights is None else list_weights(numbers(weights, "weights"), train.starts),
        metrics=metric_names(selection),
        patience=patience,
        train_curve=train_curve,
        callbacks=_callable(callbacks),
        progress=progress,
    )
    engine = problem.backend_specification.load()
    threads = engine.threads(problem) if hasattr(engine, "threads") else None
    with use_threads(threads):
        model: Model = engine.fit(problem) if debias is None else _debiased(problem, debias, engine.fit)
    model.record.seconds["total"] = time.perf_counter() - started
    return model


def check_data(train: Lists, valid: Lists | None) -> Lists | None:
    """Return the validation data with the categories of the training data; raise where they do not go together."""
    if not len(train):
        raise DataError("there is no list to train on")
    if valid is None:
        return None
    if valid.features.shape[1] != train.features.shape[1]:
        raise DataError(
            f"training data have {train.features.shape[1]} features, validation data {valid.features.shape[1]}"
        )
    if (valid.feature_names, valid.categorical) != (train.feature_names, train.categorical):
        raise DataError("the features of training and validation data have other names, or others are categorical")
    return valid.with_categories(train.categories)


def _debiased(problem: Problem, debias: Named, fit_plain: Callable[[Problem], Model]) -> Model:
    """Fit a problem whose lists carry clicks."""

    def fit_lists(train: Lists, valid: Lists | None, positions: NDArray[np.int64] | None) -> Model:
        if positions is not None and not getattr(problem.backend_parameters, "native", False):
            raise FitError(
                f"debias={debias} is for an engine's own objective, as of lightgbm[native=true] or"
                " xgboost[native=true]; with losses of rankplug take ips or dual"
            )
        return fit_plain(replace(problem, train=train, valid=valid, positions=positions))

    return debiased(debias, problem.train, problem.valid, fit_lists)


def debiased(debias: Named, train: Lists, valid: Lists | None, fit_lists: FitLists) -> Model:
    """Fit lists that carry clicks by a debiasing."""
    specification, parameters = registry().resolve("debiasing", debias)
    if train.clicks is None:
        raise DataError(
            f"{debias} needs clicks beside the labels of the training data; give rankplug.Lists(..., clicks=...) or"
            " Ranker.fit(..., clicks=...), or load with the transform click_log"
        )
    model: Model = specification.load()(parameters, train, valid, fit_lists)
    model.record.combination["debias"] = str(parse(debias))
    return model


def _callable(callbacks: Iterable[Callback]) -> tuple[Callback, ...]:
    functions = tuple(callbacks)
    for callback in functions:
        if not callable(callback):
            raise FitError(f"a callback must be a function of the iteration and its metrics, got {callback!r}")
    return functions


def scorers_of(backend: str) -> list[str]:
    """Return the names of the scorers a backend can fit."""
    return [scorer.name for scorer in registry().specifications(ScorerSpecification) if backend in scorer.fitted_by]
