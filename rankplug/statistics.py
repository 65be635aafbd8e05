"""Intervals, tests and effect sizes: arrays in, a small frozen result out that states its unit of replication.

A number means little without what was repeated to get it: ten trials of one query set and ten thousand queries of one
trial answer different questions. Every function therefore asks for the ``unit`` and every result carries it. SciPy and
statsmodels compute; this module fixes the conventions.

>>> str(t_interval([0.41, 0.43, 0.42, 0.44], unit="trials"))
'0.4250 [0.4045, 0.4455] (95% t interval over 4 trials)'
>>> paired_t_test([0.5, 0.6, 0.7], [0.4, 0.4, 0.6], unit="trials").degrees_of_freedom
2
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.errors import DataError

Unit = Literal["trials", "queries", "data sets", "trials, then queries"]
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


@dataclass(frozen=True)
class PairedTest:
    """A two-sided test of a mean difference of zero between paired values."""

    difference: float
    statistic: float
    p_value: float
    pairs: int
    unit: Unit
    method: str
    degrees_of_freedom: int | None = None
    constant: bool = False
    """Whether all differences were equal, so that p is 0 or 1 by convention."""

    def __str__(self) -> str:
        note = ", all differences equal" if self.constant else ""
        return (
            f"{self.difference:+.4f}, p = {self.p_value:.3g} ({self.method}, {self.pairs} pairs of {self.unit}{note})"
        )


@dataclass(frozen=True)
class EffectSize:
    """A mean difference in standard deviations of the differences."""

    cohen: float
    """Cohen's d for paired values, d_z."""
    hedges: float
    """The same without its bias in small samples."""
    pairs: int
    unit: Unit


@dataclass(frozen=True)
class Correction:
    """Tests of one family, corrected for their number."""

    p_values: tuple[float, ...]
    rejected: tuple[bool, ...]
    level: float
    method: str


def t_interval(values: ArrayLike, *, unit: Unit, level: float = 0.95) -> Interval:
    """Mean with Student's interval, ``t * s / sqrt(n)`` to either side, where s has n - 1 degrees of freedom."""
    from scipy import stats

    sample = _sample(values, least=1)
    point = float(sample.mean())
    if sample.size == 1:
        return Interval(point, math.nan, math.nan, level, 1, unit, "t interval")
    reach = float(stats.t.ppf(0.5 + level / 2, sample.size - 1) * sample.std(ddof=1) / math.sqrt(sample.size))
    return Interval(point, point - reach, point + reach, level, sample.size, unit, "t interval")


def paired_t_test(values: ArrayLike, others: ArrayLike, *, unit: Unit) -> PairedTest:
    """Student's paired test.

    Where all differences are equal t is not defined: p is then 1 if they are zero and 0 otherwise, and ``constant``
    says so.
    """
    from scipy import stats

    first, second = _pairs(values, others)
    differences = first - second
    mean, pairs = float(differences.mean()), differences.size
    if _is_constant(first, second):
        same = abs(mean) <= _rounding(first, second)
        t = 0.0 if same else math.copysign(math.inf, mean)
        return PairedTest(mean, t, 1.0 if same else 0.0, pairs, unit, "paired t test", pairs - 1, constant=True)
    found = stats.ttest_rel(first, second)
    return PairedTest(mean, float(found.statistic), float(found.pvalue), pairs, unit, "paired t test", pairs - 1)


def paired_permutation_test(
    values: ArrayLike, others: ArrayLike, *, unit: Unit, resamples: int = 9_999, seed: int = 0
) -> PairedTest:
    """Fisher's test: the mean difference among those with the signs of the differences flipped at random.

    All sign patterns are tried when there are no more than ``resamples`` of them.
    """
    from scipy import stats

    first, second = _pairs(values, others)
    differences = first - second
    found = stats.permutation_test(
        (differences,),
        lambda flipped, axis: flipped.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, 4_000_000 // differences.size),
        rng=np.random.default_rng(seed),
    )
    mean = float(differences.mean())
    return PairedTest(
        mean,
        mean,
        float(found.pvalue),
        differences.size,
        unit,
        "paired permutation test",
        constant=_is_constant(first, second),
    )


def hierarchical_bootstrap(
    values: Sequence[ArrayLike], *, level: float = 0.95, resamples: int = 2_000, seed: int = 0
) -> Interval:
    """Percentile interval of the mean over trials and queries, drawing trials first and then queries in each.

    Args:
        values: one row a trial with one value a query; nan is left out. For two models, rows of differences.
        level: of the interval.
        resamples: how often both are drawn anew.
        seed: of the draws.
    """
    rows = [np.asarray(row, dtype=np.float64).reshape(-1) for row in values]
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


def holm(p_values: ArrayLike, *, level: float = 0.05) -> Correction:
    """Holm's step-down correction, which holds the chance of any false rejection below the level."""
    from statsmodels.stats.multitest import multipletests

    given = np.asarray(p_values, dtype=np.float64).reshape(-1)
    if given.size == 0 or not ((given >= 0) & (given <= 1)).all():
        raise DataError(f"p values must lie between 0 and 1, got {given.tolist()}")
    rejected, corrected, _, _ = multipletests(given, alpha=level, method="holm")
    return Correction(tuple(map(float, corrected)), tuple(map(bool, rejected)), level, "Holm")


def effect_size(values: ArrayLike, others: ArrayLike, *, unit: Unit) -> EffectSize:
    """Cohen's d of paired values and Hedges' g, which multiplies it by ``1 - 3 / (4 (n - 1) - 1)``."""
    first, second = _pairs(values, others)
    differences = first - second
    mean = float(differences.mean())
    if _is_constant(first, second):
        cohen = 0.0 if abs(mean) <= _rounding(first, second) else math.copysign(math.inf, mean)
    else:
        cohen = mean / float(differences.std(ddof=1))
    unbiased = cohen * (1 - 3 / (4 * (differences.size - 1) - 1)) if math.isfinite(cohen) else cohen
    return EffectSize(cohen, unbiased, differences.size, unit)


def _sample(values: ArrayLike, least: int) -> Doubles:
    sample: Doubles = np.asarray(values, dtype=np.float64).reshape(-1)
    if sample.size < least or not np.isfinite(sample).all():
        raise DataError(
            f"statistics need at least {least} finite values, got {sample.size} of which"
            f" {int(np.isfinite(sample).sum())} are finite; leave out queries that are nan first"
        )
    return sample


def _pairs(values: ArrayLike, others: ArrayLike) -> tuple[Doubles, Doubles]:
    first, second = np.asarray(values, dtype=np.float64), np.asarray(others, dtype=np.float64)
    if first.shape != second.shape:
        raise DataError(f"paired values must be equally many, got {first.size} and {second.size}")
    return _sample(first, least=2), _sample(second, least=2)


def _rounding(first: Doubles, second: Doubles) -> float:
    return 4 * float(np.finfo(np.float64).eps) * float(max(np.abs(first).max(), np.abs(second).max()))


def _is_constant(first: Doubles, second: Doubles) -> bool:
    return bool(np.ptp(first - second) <= _rounding(first, second))


def _resampled_means(row: Doubles, draws: int, generator: Any) -> Doubles:
    block = max(1, 4_000_000 // row.size)
    parts = [
        row[generator.integers(row.size, size=(min(block, draws - begin), row.size))].mean(axis=1)
        for begin in range(0, draws, block)
    ]
    return np.concatenate(parts) if parts else np.empty(0)
