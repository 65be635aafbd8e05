"""Means with confidence intervals."""

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
        resamples: how often both are drawn anew.
        seed: of the draws.
    """
    rows = [numbers(row, "values").reshape(-1) for row in values]
    rows = [row[~np.isnan(row)] for row in rows]
    if not rows or min(row.size for row in rows) == 0:
        raise DataError("a bootstrap needs at least one trial, and in each trial one query whose value is not nan")
    generator = np.random.default_rng(seed)
    chosen = generator.integers(len(rows), size=(resamples, len(rows)))
    means = np.empty(chosen.shape)
    for trial, row in enumerate(rows):
        drawn = chosen == trial
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
