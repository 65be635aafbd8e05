"""Differences between two models with the design that gave them, which says what may be concluded.

>>> sample = Sample(np.array([0.1, 0.3, 0.2, 0.4]), Resplits(test_to_train=1 / 3))
>>> sample.design.unit, round(float(sample.estimate.error), 4)
('re-splits of one pool', 0.0986)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankplug.statistics import (
    Estimate,
    Interval,
    PValues,
    mean_of_folds,
    mean_of_queries_and_seeds,
    mean_of_resplits,
    mean_of_trials,
    p_values,
    weighted_sum,
)

if TYPE_CHECKING:
    import pandas as pd

Doubles = NDArray[np.float64]
Cell = tuple[str, str]
"""A group and one of its models."""


@dataclass(frozen=True)
class IndependentTrials:
    """Repetitions that share nothing, such as trials that draw training sample, test sample and seed anew.

    Args:
        unit: name of what is repeated.
    """

    unit: str = "trials"


@dataclass(frozen=True)
class Resplits:
    """Random splits of one pool of queries.

    Args:
        test_to_train: test queries for each training query.
    """

    test_to_train: float
    unit: ClassVar[str] = "re-splits of one pool"


@dataclass(frozen=True)
class OfficialFolds:
    """Folds of one collection, trained with one seed or several; or one test part that all trials share."""

    unit: ClassVar[str] = "queries and seeds"


Design = IndependentTrials | Resplits | OfficialFolds


@dataclass(frozen=True, eq=False)
class Sample:
    """Values of one part of a claim, positive where the claim is right.

    Args:
        values: float array of shape (trials or splits,); of folds an array of shape (folds, seeds), or for each fold
            one of shape (queries, seeds).
        design: experimental design of the values.
        runs: group and model of the runs behind them.
    """

    values: Doubles | tuple[Doubles, ...]
    design: Design
    runs: frozenset[Cell] = frozenset()

    @cached_property
    def estimate(self) -> Estimate:
        """The mean with its standard error."""
        if isinstance(self.values, tuple):
            return mean_of_queries_and_seeds(self.values)
        if self.values.size == 0 or (self.values.shape[-1] < 2 and self.values.ndim == 1):
            mean = np.asarray(self.values.mean() if self.values.size else np.nan)
            unknown = np.asarray(np.nan)
            return Estimate(mean, unknown, np.asarray(0.0), int(self.values.size), unknown)
        if isinstance(self.design, Resplits):
            return mean_of_resplits(self.values, self.design.test_to_train)
        if isinstance(self.design, IndependentTrials):
            return mean_of_trials(self.values)
        folds, seeds = self.values.shape
        if folds > 1:
            return mean_of_folds(self.values.mean(axis=-1))
        return mean_of_trials(self.values[0]) if seeds > 1 else mean_of_queries_and_seeds([self.values])

    @property
    def extent(self) -> str:
        """Over what the mean is taken, in words.

        >>> Sample(np.zeros(3), IndependentTrials()).extent
        '3 trials'
        >>> Sample((np.zeros((20, 2)), np.zeros((21, 2))), OfficialFolds()).extent
        '41 queries and 2 seeds in each of 2 folds'
        """
        if isinstance(self.values, tuple):
            queries, seeds = sum(len(table) for table in self.values), self.values[0].shape[-1]
            models = f"{seeds} seed{'s' * (seeds > 1)}"
            if len(self.values) == 1:
                return f"{queries} queries and {models}"
            return f"{queries} queries and {models} in each of {len(self.values)} folds"
        if self.values.ndim == 1:
            return f"{self.values.size} {self.design.unit}"
        folds, seeds = self.values.shape
        return f"{folds} folds, {seeds} seeds each" if folds > 1 else f"{seeds} seeds on one test part"

    @property
    def repeats(self) -> str:
        """The unit that a further repetition adds."""
        return self.design.unit if self._is_of_trials else "seeds"

    @property
    def _is_of_trials(self) -> bool:
        return not isinstance(self.values, tuple) and self.values.ndim == 1


@dataclass(frozen=True, eq=False)
class WeightedSum:
    """A weighted sum of means of independent collections, such as a microaverage or a difference between two.

    Args:
        samples: one sample for each collection.
        weights: weights of the collections.
    """

    samples: tuple[Sample, ...]
    weights: tuple[float, ...]

    @cached_property
    def estimate(self) -> Estimate:
        """The sum with its standard error."""
        return weighted_sum([sample.estimate for sample in self.samples], self.weights)

    @property
    def extent(self) -> str:
        """Over what the mean is taken, in words."""
        return " and ".join(dict.fromkeys(sample.extent for sample in self.samples))

    @property
    def repeats(self) -> str:
        """The unit that a further repetition adds."""
        return self.samples[0].repeats

    @property
    def runs(self) -> frozenset[Cell]:
        """Group and model of the runs behind it."""
        return frozenset().union(*(sample.runs for sample in self.samples))


Values = Sample | WeightedSum
"""Estimates by which a part of a claim is judged."""


def sample_of_queries(values: pd.Series[float], design: Design, runs: Iterable[Cell] = ()) -> Sample:
    """Make a sample of values that are indexed by trial, fold and test query, or of means by trial and fold.

    Args:
        values: the values, nan where undefined.
        design: experimental design of the values; that of folds needs the queries.
        runs: group and model of the runs behind them.
    """
    defined = values.dropna()
    if not isinstance(design, OfficialFolds):
        return Sample(means_of_trials(defined), design, frozenset(runs))
    tables = [
        rows.unstack("trial").dropna().to_numpy(np.float64) for _, rows in defined.groupby(level="fold", sort=True)
    ]
    return Sample(tuple(tables), design, frozenset(runs))


def means_of_trials(values: pd.Series[float]) -> Doubles:
    """Return the mean of each trial's values."""
    return np.asarray(values.groupby(level="trial").mean(), np.float64)


def interval_of(sample: Values) -> Interval:
    """Return the 95 % interval of a sample's mean, as figures and tables show it."""
    from scipy import stats

    estimate = sample.estimate
    point = float(estimate.point)
    reach = float(stats.t.ppf(0.975, estimate.degrees) * estimate.error) if estimate.degrees > 0 else np.nan
    method = "interval of Nadeau and Bengio" if isinstance(getattr(sample, "design", None), Resplits) else "t interval"
    return Interval(point, point - reach, point + reach, 0.95, estimate.count, sample.repeats, method)  # type: ignore[arg-type]


def p_values_of(samples: Iterable[Values], margin: float) -> PValues:
    """Return the p values of some samples' means at a margin that would matter."""
    estimates = [sample.estimate for sample in samples]
    point, error, degrees = (
        [getattr(estimate, name) for estimate in estimates] for name in ("point", "error", "degrees")
    )
    return p_values(point, error, degrees, margin)


def p_value_of(sample: Values) -> float:
    """Return the one-sided p value against a mean of zero or less."""
    return float(p_values_of([sample], 1.0).greater[0])
