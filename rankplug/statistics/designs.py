"""A mean difference and its standard error, by how the data were repeated.

Every function takes arrays whose last axes are the repetitions; axes before them are cases that are computed at once.

>>> found = mean_of_trials([0.1, 0.3, 0.2, 0.4])
>>> float(found.point), round(float(found.error), 4), float(found.degrees)
(0.25, 0.0645, 3.0)
>>> round(float(mean_of_resplits([0.1, 0.3, 0.2, 0.4], test_to_train=1 / 3).error), 4)
0.0986
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankplug.statistics.intervals import Doubles
from rankplug.system import numbers

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
    """Estimate the mean of independent values, such as trials that draw all their data anew: ``s / sqrt(n)``."""
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
