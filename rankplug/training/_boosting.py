"""Losses and settings in the form in which boosting engines use them.

A scorer's function of settings may return, beside the engine's parameters, ``categorical``, ``increasing`` and
``decreasing``, features by name or position, and ``engine``, parameters under the engine's own names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.data import Lists
from rankplug.errors import DataError, FitError, did_you_mean, shown
from rankplug.losses import Evaluation, Loss, Objective
from rankplug.registry import Named
from rankplug.samplers import Sampler
from rankplug.system import WORTH_A_THREAD_BESIDE_AN_ENGINE, check_memory, generator, numbers, threads_for, whole_number
from rankplug.training._fitting import Problem
from rankplug.training._training_loop import checked

CURVATURE_FLOOR = 1e-16
ROLES = ("categorical", "increasing", "decreasing")
ENGINE = "engine"


def check_memory_for_bins(problem: Problem, max_bin: int) -> None:
    """Raise an error if the binned features, a byte or two an entry, cannot be held in memory."""
    documents = problem.train.documents + (problem.valid.documents if problem.valid is not None else 0)
    entries = documents * problem.train.features.shape[1]
    check_memory(
        entries * (1 if max_bin <= 256 else 2),
        str(problem.backend_specification),
        "train on fewer queries, or with max_bin=255 or less",
    )


def threads_for_trees(problem: Problem, nanoseconds: float, leaves: int = 2) -> int:
    """Return the number of threads on which trees are grown.

    Args:
        problem: what is to be fitted.
        nanoseconds: that the engine needs on one thread to look at one value of a document.
        leaves: of a tree. Each time their number doubles, half of the documents are looked at once more.
    """
    entries = problem.train.documents * problem.train.features.shape[1]
    return threads_for(entries * (1 + math.log2(leaves) / 2) * nanoseconds * 1e-6)


class BoostingObjective:
    """The derivatives an engine asks for, iteration after iteration.

    Args:
        objective: the loss on the training data, bound with ``step="newton"``.
        valued: whether the loss itself is computed too.
        sampling: share of the lists that a tree learns from, and how many trees learn from the same; all lists where
            there is none. Unless ``valued``, nothing is computed for the others.
    """

    def __init__(self, objective: Objective, valued: bool, sampling: tuple[float, int] | None = None) -> None:
        self.objective, self.valued, self.sampling = objective, valued, sampling
        objective.worth_threads = WORTH_A_THREAD_BESIDE_AN_ENGINE
        self.loss = float("nan")

    def __call__(self, scores: NDArray[Any], iteration: int) -> Evaluation:
        """Return the gradient and curvature in float32; no curvature is 0, which would divide 0 by 0 in a leaf.

        Only a curvature that is 0 beside a gradient of 0 is raised; a negative one is an error, not a thing to repair.
        With sampling they are those of :meth:`sampled_rows`, for the scores of all documents.
        """
        step = checked(self._evaluate(scores, iteration), iteration, self.valued)
        lowest = step.curvature.min(initial=0)
        if lowest < 0:
            raise FitError(
                f"{self.objective.loss} has the negative curvature {lowest:.3g} at iteration {iteration}; boosting"
                " needs a positive one, so choose another curvature of the loss or another backend"
            )
        if lowest < CURVATURE_FLOOR:
            np.maximum(step.curvature, CURVATURE_FLOOR, out=step.curvature, where=step.gradient == 0)
        if self.valued:
            self.loss = float(step.value.mean())
        return step

    def everywhere(self, scores: NDArray[Any], iteration: int) -> Evaluation:
        """Return gradient and curvature of all documents, with neither for those of lists that are not sampled."""
        step = self(scores, iteration)
        if self.sampling is None:
            return step
        whole = Evaluation(step.value, *(np.zeros(scores.size, np.float32) for _ in range(2)))
        rows = self.sampled_rows(iteration)
        whole.gradient[rows], whole.curvature[rows] = step.gradient, step.curvature
        return whole

    def sampled_lists(self, iteration: int) -> NDArray[np.bool_]:
        """Return which lists an iteration learns from, at least one."""
        assert self.sampling is not None
        share, frequency = self.sampling
        lists = self.objective.lengths.size
        order = generator(self.objective.seed, "query bagging", iteration // frequency).permutation(lists)
        return np.asarray(order < max(round(share * lists), 1))

    def sampled_rows(self, iteration: int) -> NDArray[np.int64]:
        """Return the positions of the documents of the lists that an iteration learns from."""
        return np.flatnonzero(np.repeat(self.sampled_lists(iteration), self.objective.lengths))

    def _evaluate(self, scores: NDArray[Any], iteration: int) -> Evaluation:
        if self.sampling is None:
            return self.objective(scores, iteration=iteration, dtype=np.float32, valued=self.valued)
        rows = self.sampled_rows(iteration)
        if self.valued:
            whole = self.objective(scores, iteration=iteration, dtype=np.float32)
            return Evaluation(whole.value, whole.gradient[rows], whole.curvature[rows])
        lists = np.flatnonzero(self.sampled_lists(iteration))
        return self.objective(scores[rows], lists=lists, iteration=iteration, dtype=np.float32, valued=False)


class EngineObjective:
    """Gradient and curvature for an engine that hands over scores, labels, lengths of the lists and weights.

    It counts the iterations of a training itself, for losses with noise; new data or scores that are all 0 restart it.
    It is pickled by the names of its loss and sampler, so that workers can receive it.

    Args:
        loss: its name.
        sampler: averages the loss over noise on the scores.
        seed: of the noise.
    """

    def __init__(self, loss: Named | Loss, *, sampler: Named | Sampler | None = None, seed: int = 0) -> None:
        self.loss = Loss.named(loss)
        self.sampler = None if sampler is None else Sampler.named(sampler)
        self.seed = whole_number(seed, "seed")
        self.iteration = 0
        self._bound: BoostingObjective | None = None
        self.__name__ = str(self.loss)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.loss}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (type(self), self.loss, self.sampler, self.seed)

    def derivatives(
        self, scores: NDArray[Any], labels: ArrayLike, lengths: ArrayLike | None, weights: ArrayLike | None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the gradient and curvature of every document."""
        if lengths is None:
            raise DataError(f"the objective {self.loss} needs to know the lists: give the data their group sizes")
        bound = self._bind(numbers(labels, "labels"), numbers(lengths, "group sizes", "int64"), weights)
        if not np.any(scores):
            self.iteration = 0
        step = bound(scores, self.iteration)
        self.iteration += 1
        return step.gradient, step.curvature

    def _bind(self, labels: NDArray[Any], lengths: NDArray[Any], weights: ArrayLike | None) -> BoostingObjective:
        weighed = None if weights is None or np.size(weights) == 0 else numbers(weights, "weights")
        if self._bound is not None:
            known = self._bound.objective
            same_weights = weighed is known.weights or (
                weighed is not None and known.weights is not None and np.array_equal(weighed, known.weights)
            )
            if same_weights and np.array_equal(known.lengths, lengths) and np.array_equal(known.labels, labels):
                return self._bound
        starts = np.concatenate(([0], np.cumsum(lengths)))
        objective = self.loss.on(labels, starts, sampler=self.sampler, weights=weighed, seed=self.seed, step="newton")
        self._bound, self.iteration = BoostingObjective(objective, valued=False), 0
        return self._bound


def _make(kind: type[EngineObjective], loss: Loss, sampler: Sampler | None, seed: int) -> EngineObjective:
    return kind(loss, sampler=sampler, seed=seed)


@dataclass(frozen=True)
class FeatureRoles:
    """Roles of some features.

    Args:
        categorical: positions of features that are codes of categories.
        monotone: one number a feature, 1 where no score falls with it, -1 where none rises, or nothing at all.
    """

    categorical: tuple[int, ...]
    monotone: tuple[int, ...]


@dataclass(frozen=True)
class TreeSettings:
    """Settings of a problem's trees, by who understands them.

    Args:
        engine: parameters of the engine.
        named: those that were named by the engine's own names.
        sampling: share of the queries and number of trees for which they are sampled; None where trees see all.
        roles: of features.
    """

    engine: dict[str, Any]
    named: dict[str, Any]
    sampling: tuple[float, int] | None
    roles: FeatureRoles

    @classmethod
    def of(cls, problem: Problem) -> TreeSettings:
        """Return the settings of a problem's trees, after checking that their bins fit into memory."""
        settings = dict(problem.scorer_implementation(problem.scorer_parameters))
        roles = feature_roles(settings, problem.train)
        check_memory_for_bins(problem, settings.get("max_bin", 255))
        named, sampling = settings.pop(ENGINE, {}), settings.pop("query_bagging", None)
        return cls({name: settings[name] for name in settings if name not in ROLES}, named, sampling, roles)


def feature_roles(settings: Mapping[str, Any], lists: Lists) -> FeatureRoles:
    """Return the roles that settings give to features, and those that the data name as categorical."""
    positions = {role: [_position(feature, role, lists) for feature in settings.get(role, ())] for role in ROLES}
    categorical = tuple(sorted({*positions["categorical"], *lists.categorical}))
    signs = [
        *((column, 1) for column in positions["increasing"]),
        *((column, -1) for column in positions["decreasing"]),
    ]
    monotone = dict(signs)
    for column in monotone:
        if column in categorical or (column, -monotone[column]) in signs:
            other = "categorical" if column in categorical else "decreasing"
            raise DataError(f"feature {_name(column, lists)} cannot be increasing and {other}; name it once")
    for column in categorical:
        check_codes(lists, column)
    every = tuple(monotone.get(column, 0) for column in range(lists.features.shape[1])) if monotone else ()
    return FeatureRoles(categorical, every)


def check_codes(lists: Lists, feature: int) -> None:
    """Raise an error if a feature has values other than whole numbers from 0, which are categories, and nan."""
    values = lists.features[:, feature]
    bad = values[~(np.isnan(values) | (np.isfinite(values) & (values >= 0) & (np.floor(values) == values)))]
    if bad.size:
        raise DataError(
            f"feature {_name(feature, lists)} is categorical and has the value {bad[0]:g}; categories are whole numbers"
            " from 0, or columns of the type category in a data frame for rankplug.Ranker"
        )


def _position(feature: int | str, role: str, lists: Lists) -> int:
    features = lists.features.shape[1]
    if isinstance(feature, str):
        if not lists.feature_names:
            raise DataError(f"{role} names the feature {feature}, but the data name none; give its position from 0")
        if feature not in lists.feature_names:
            raise DataError(f"{role}: there is no feature {feature}: {did_you_mean(feature, lists.feature_names)}")
        return lists.feature_names.index(feature)
    if not 0 <= feature < features:
        raise DataError(f"{role}: there is no feature {feature}; there are {features}, counted from 0")
    return feature


def _name(column: int, lists: Lists) -> str:
    return lists.feature_names[column] if lists.feature_names else str(column)


def of_engine(references: Iterable[Any], engine: str) -> dict[str, Any]:
    """Return the parameters that were named for one engine, of references such as ``lightgbm[path_smooth=1]``."""
    several = list(references)
    names = [reference.name for reference in several]
    if several and engine not in names:
        raise FitError(f"engine={','.join(names)} names parameters of another engine than the backend's, {engine}")
    own = [reference.parameters for reference in several if reference.name == engine]
    return {name: value for parameters in own for name, value in parameters.items()}


def with_engine(
    ours: Mapping[str, Any], own: Mapping[str, Any], engine: str, *, unknown: Iterable[str], known: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the engine's parameters with those that were named by their own names.

    Args:
        ours: all that rankplug sets.
        own: those that were named.
        engine: its name, for messages.
        unknown: those of them that the engine does not know.
        known: all that it knows, where it lists them.
    """
    for name, value in own.items():
        if name in ours:
            raise FitError(f"{engine}'s {name} is set by rankplug, by parameters of its own; leave it out of engine")
        if name in unknown:
            raise FitError(f"{engine} has no parameter {name}" + (f": {did_you_mean(name, known)}" if known else ""))
        if not isinstance(value, (bool, int, float, str, tuple)):
            raise FitError(f"{engine}'s {name} cannot be {shown(value)}; give a number, a word or a tuple of them")
    return {**ours, **{name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}}
