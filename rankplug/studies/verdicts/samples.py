"""Differences between two models with the design that gave them, which says what may be concluded.

>>> sample = Sample(np.array([0.1, 0.3, 0.2, 0.4]), Resplits(test_to_train=1 / 3))
>>> sample.design.unit, round(float(sample.estimate.error), 4)
('re-splits of one pool', 0.0986)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rankplug.statistics import (
    Estimate,
    mean_of_folds,
    mean_of_queries_and_seeds,
    mean_of_resplits,
    mean_of_trials,
    weighted_sum,
)

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class IndependentTrials:
    """Repetitions that share nothing, such as trials that draw training sample, test sample and seed anew.

    Args:
        unit: what is repeated.
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
        values: one a trial or split. Of folds a table of folds by seeds, or for each fold a table of queries by seeds.
        design: how they came about.
        runs: group and model of the runs behind them.
    """

    values: Doubles | tuple[Doubles, ...]
    design: Design
    runs: frozenset[tuple[str, str]] = frozenset()

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
        samples: one a collection.
        weights: of the collections.
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
    def runs(self) -> frozenset[tuple[str, str]]:
        """Group and model of the runs behind it."""
        return frozenset().union(*(sample.runs for sample in self.samples))


@dataclass(frozen=True, eq=False)
class PublishedNumber:
    """One published number beside runs of ours on the same queries: the difference to what one run of ours gives.

    Args:
        values: ours, one a seed.
        published: the number, of one run.
        runs: group and model of the runs behind it.
    """

    values: Doubles
    published: float
    runs: frozenset[tuple[str, str]] = frozenset()

    @cached_property
    def estimate(self) -> Estimate:
        """Our mean less the number, with the error of a prediction: ``s sqrt(1 + 1 / seeds)``."""
        values = np.asarray(self.values, np.float64)
        estimate = Sample(values, IndependentTrials()).estimate
        floor = estimate.error**2 * estimate.count
        return Estimate(
            estimate.point - self.published, np.sqrt(estimate.error**2 + floor), estimate.degrees, estimate.count, floor
        )

    @property
    def extent(self) -> str:
        """The runs that the prediction is made from, in words."""
        return f"one run as {self.values.size} of ours predict it"

    @property
    def repeats(self) -> str:
        """The unit that a further repetition adds."""
        return "seeds"


Values = Sample | WeightedSum | PublishedNumber
"""Estimates by which a part of a claim is judged."""
