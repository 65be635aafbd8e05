"""Means with confidence intervals, and mean differences with their standard errors, by what was repeated.

The functions of estimates take arrays whose last axes are the repetitions; axes before them are cases that are computed
at once.

>>> estimate = mean_of_trials([0.1, 0.3, 0.2, 0.4])
>>> float(estimate.point), round(float(estimate.error), 4), float(estimate.degrees)
(0.25, 0.0645, 3.0)
>>> round(float(mean_of_resplits([0.1, 0.3, 0.2, 0.4], test_to_train=1 / 3).error), 4)
0.0986
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.errors import DataError
from rankplug.system import numbers

Unit = Literal["trials", "folds", "queries", "data sets", "trials, then queries"]
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A mean with a confidence interval; the bounds are nan where one value cannot give any."""

    point: float
    low: float
    high: float
    level: float
    count: int
    unit: Unit
    method: str

    def __str__(self) -> str:
        if math.isnan(self.low):
            return f"{self.point:.4f} (one value, so no interval; unit: {self.unit})"
        return (
            f"{self.point:.4f} [{self.low:.4f}, {self.high:.4f}]"
            f" ({self.level:.0%} {self.method} over {self.count} {self.unit})"
        )

    @property
    def half_width(self) -> float:
        """Half the interval's length."""
        return (self.high - self.low) / 2


def t_interval(values: ArrayLike, *, unit: Unit, level: float = 0.95) -> Interval:
    """Return the mean with Student's interval, ``t * s / sqrt(n)`` to either side, with n - 1 degrees of freedom."""
    from scipy import special

    sample = finite_sample(values, least=1)
    point = float(sample.mean())
    if sample.size == 1:
        return Interval(point, math.nan, math.nan, level, 1, unit, "t interval")
    reach = float(special.stdtrit(sample.size - 1, 0.5 + level / 2) * sample.std(ddof=1) / math.sqrt(sample.size))
    return Interval(point, point - reach, point + reach, level, sample.size, unit, "t interval")


def hierarchical_bootstrap(
    values: Sequence[ArrayLike], *, level: float = 0.95, resamples: int = 2_000, seed: int = 0
) -> Interval:
    """Return the percentile interval of the mean over trials and queries, drawing trials first, then queries.

    Args:
        values: one row a trial with one value a query; nan is left out. For two models, rows of differences.
        level: of the interval.
        resamples: number of bootstrap samples of both.
        seed: of the draws.
    """
    rows = [numbers(row, "values").reshape(-1) for row in values]
    rows = [row[~np.isnan(row)] for row in rows]
    if not rows or min(row.size for row in rows) == 0:
        raise DataError("a bootstrap needs at least one trial, and in each trial one query whose value is not nan")
    generator = np.random.default_rng(seed)
    selection = generator.integers(len(rows), size=(resamples, len(rows)))
    means = np.empty(selection.shape)
    for trial, row in enumerate(rows):
        drawn = selection == trial
        means[drawn] = _resampled_means(row, int(drawn.sum()), generator)
    low, high = np.quantile(means.mean(axis=1), [0.5 - level / 2, 0.5 + level / 2])
    point = float(np.mean([row.mean() for row in rows]))
    return Interval(point, float(low), float(high), level, len(rows), "trials, then queries", "hierarchical bootstrap")


def finite_sample(values: ArrayLike, least: int) -> Doubles:
    sample: Doubles = numbers(values, "values").reshape(-1)
    if sample.size < least or not np.isfinite(sample).all():
        raise DataError(
            f"statistics need at least {least} finite values, got {sample.size} of which"
            f" {int(np.isfinite(sample).sum())} are finite; leave out queries that are nan first"
        )
    return sample


def _resampled_means(row: Doubles, draws: int, generator: Any) -> Doubles:
    block = max(1, 4_000_000 // row.size)
    parts = [
        row[generator.integers(row.size, size=(min(block, draws - begin), row.size))].mean(axis=1)
        for begin in range(0, draws, block)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


FEW = 4
"""Degrees of freedom between seeds below which they alone count, as Satterthwaite's would be too many."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean difference, as t statistics need it.

    Args:
        point: the mean.
        error: its standard error.
        degrees: of freedom of the error.
        count: repetitions that more work could add to: trials, splits, folds or seeds.
        floor: the part of the error's square that no further repetition of this design takes away.
    """

    point: Doubles
    error: Doubles
    degrees: Doubles
    count: int
    floor: Doubles


def _estimate(point: Doubles, square: Doubles, degrees: Doubles | float, count: int, floor: Doubles) -> Estimate:
    return Estimate(point, np.sqrt(square), np.broadcast_to(np.asarray(degrees, np.float64), point.shape), count, floor)


def mean_of_trials(differences: ArrayLike) -> Estimate:
    """Estimate the mean of independent values, such as trials that draw all their data again: ``s / sqrt(n)``."""
    values = numbers(differences, "differences")
    count = values.shape[-1]
    point = values.mean(axis=-1)
    return _estimate(point, values.var(axis=-1, ddof=1) / count, count - 1.0, count, np.zeros_like(point))


def mean_of_resplits(differences: ArrayLike, test_to_train: float) -> Estimate:
    """Estimate the mean over random splits of one pool of queries: ``s sqrt(1 / n + test / train)``.

    Splits share queries, so a plain interval takes them for more than they are, and shrinks to nothing with their
    number although the pool stays the same. Nadeau and Bengio, Inference for the generalization error, Machine
    Learning 52, 2003.
    """
    values = numbers(differences, "differences")
    count = values.shape[-1]
    variance = values.var(axis=-1, ddof=1)
    floor = variance * test_to_train
    return _estimate(values.mean(axis=-1), variance / count + floor, count - 1.0, count, floor)


def mean_of_folds(differences: ArrayLike) -> Estimate:
    """Estimate the mean over the folds of a collection, each a mean over its queries and seeds.

    Folds have their own test queries and models, so what lies between them covers both.
    """
    estimate = mean_of_trials(differences)
    return Estimate(estimate.point, estimate.error, estimate.degrees, estimate.count, estimate.error**2)


def mean_of_queries_and_seeds(folds: Sequence[ArrayLike]) -> Estimate:
    """Estimate the mean over the test queries of all folds, each a mean over seeds, for new queries and new seeds.

    Every fold is a table of queries by seeds: a query's difference is ``mean + query + seed + rest``, and a seed is a
    model of its fold's own. The mean's variance is ``(M_queries + M_seeds - M_rest) / (queries * seeds)`` in mean
    squares, no less than what queries or seeds alone give, with the degrees of freedom of Satterthwaite (Biometrics
    2, 1946). One seed cannot tell models from queries: then folds are what is repeated, and one fold settles nothing.

    Args:
        folds: one array a fold, of queries by seeds; each fold has the same number of seeds.
    """
    tables = [numbers(table, "differences") for table in folds]
    seeds, queries = tables[0].shape[-1], sum(table.shape[-2] for table in tables)
    point = sum(table.sum(axis=(-2, -1)) for table in tables) / (queries * seeds)
    if seeds == 1:
        return _between_folds(tables, point, queries)
    squares = np.zeros((3, *point.shape))
    for table in tables:
        whole = table.mean(axis=(-2, -1), keepdims=True)
        of_query, of_seed = table.mean(axis=-1, keepdims=True), table.mean(axis=-2, keepdims=True)
        squares[0] += seeds * ((of_query - whole) ** 2).sum(axis=(-2, -1))
        squares[1] += table.shape[-2] * ((of_seed - whole) ** 2).sum(axis=(-2, -1))
        squares[2] += ((table - of_query - of_seed + whole) ** 2).sum(axis=(-2, -1))
    of_queries, of_seeds = queries - len(tables), len(tables) * (seeds - 1)
    degrees = np.array([of_queries, of_seeds, max(of_queries * (seeds - 1), 1)], np.float64)
    means = squares / degrees.reshape(3, *[1] * point.ndim)
    crossed = means[0] + means[1] - means[2]
    largest = np.maximum(crossed, np.maximum(means[0], means[1]))
    if of_seeds < FEW:
        freedom = np.full(point.shape, float(of_seeds))
    else:
        shares = (means**2 / degrees.reshape(3, *[1] * point.ndim)).sum(axis=0)
        freedom = np.divide(largest**2, shares, out=np.full(point.shape, float(of_seeds)), where=shares > 0)
        freedom = np.where(largest == means[0], of_queries, np.where(largest == means[1], of_seeds, freedom))
    floor = np.maximum(means[0] - means[2], 0.0) / (queries * seeds)
    return _estimate(point, largest / (queries * seeds), freedom, seeds, np.minimum(floor, largest))


def _between_folds(tables: Sequence[Doubles], point: Doubles, queries: int) -> Estimate:
    count = len(tables)
    if count < 2:
        unknown = np.full(point.shape, np.nan)
        return Estimate(point, unknown, np.zeros(point.shape), 1, unknown)
    shares = np.array([table.shape[-2] / queries for table in tables])
    means = np.stack([table.mean(axis=(-2, -1)) for table in tables], axis=-1)
    square = (shares**2 * (means - point[..., None]) ** 2).sum(axis=-1) * count / (count - 1)
    return _estimate(point, square, count - 1.0, 1, np.zeros_like(square))


def weighted_sum(estimates: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """Estimate a weighted sum of independent estimates, such as a mean over several collections, by Satterthwaite."""
    squares = np.array([weight**2 * estimate.error**2 for weight, estimate in zip(weights, estimates, strict=True)])
    whole = squares.sum(axis=0)
    parts = sum(square**2 / estimate.degrees for square, estimate in zip(squares, estimates, strict=True))
    least = min(float(np.min(estimate.degrees)) for estimate in estimates)
    freedom = np.divide(whole**2, parts, out=np.full(np.shape(whole), least), where=np.asarray(parts) > 0)
    point = sum(weight * estimate.point for weight, estimate in zip(weights, estimates, strict=True))
    floor = sum(weight**2 * estimate.floor for weight, estimate in zip(weights, estimates, strict=True))
    return _estimate(
        np.asarray(point), whole, freedom, min(estimate.count for estimate in estimates), np.asarray(floor)
    )
