"""Settings of trees that need the data or the engine to be understood: roles of features, an engine's own parameters.

A scorer's function of settings may return, beside the engine's parameters, ``categorical``, ``increasing`` and
``decreasing``, features by name or position, and ``engine``, the parameters that were named for that engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankplug.data import Lists
from rankplug.errors import DataError, FitError, did_you_mean, shown
from rankplug.training.boosting import check_memory_for_bins
from rankplug.training.fitting import Problem

ROLES = ("categorical", "increasing", "decreasing")
ENGINE = "engine"


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
        sampling: share of the queries and number of trees for which they are drawn; None where trees see all.
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
    """Raise an error where a feature holds anything but whole numbers from 0, which stand for categories, and nan."""
    values = lists.features[:, feature]
    bad = values[~(np.isnan(values) | (np.isfinite(values) & (values >= 0) & (np.floor(values) == values)))]
    if bad.size:
        raise DataError(
            f"feature {_name(feature, lists)} is categorical and has the value {bad[0]:g}; categories are whole numbers"
            " from 0, or columns of the type category in a data frame given to rankplug.Ranker"
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
    named = [given.name for given in several]
    if several and engine not in named:
        raise FitError(f"engine={','.join(named)} names parameters of another engine than the backend's, {engine}")
    return {name: value for given in several if given.name == engine for name, value in given.parameters.items()}


def with_engine(
    ours: Mapping[str, Any], own: Mapping[str, Any], engine: str, *, unknown: Iterable[str], known: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the engine's parameters with those that were named by their own names.

    Args:
        ours: all that rankplug sets.
        own: those that were named.
        engine: its name, for messages.
        unknown: those of them that the engine does not know.
        known: all that it knows, where it tells.
    """
    for name, value in own.items():
        if name in ours:
            raise FitError(f"{engine}'s {name} is set by rankplug, by parameters of its own; leave it out of engine")
        if name in unknown:
            raise FitError(f"{engine} has no parameter {name}" + (f": {did_you_mean(name, known)}" if known else ""))
        if not isinstance(value, (bool, int, float, str, tuple)):
            raise FitError(f"{engine}'s {name} cannot be {shown(value)}; give a number, a word or a tuple of them")
    return {**ours, **{name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}}
