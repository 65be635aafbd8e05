"""Paired tests, effect sizes, and Holm's correction for a family of tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankplug.errors import DataError
from rankplug.statistics.decisions import holm_rejected, holm_steps
from rankplug.statistics.intervals import Doubles, Unit, finite_sample
from rankplug.system import numbers


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
    """True if all differences were equal, so that p is 0 or 1 by convention."""
    low: float = math.nan
    high: float = math.nan
    level: float = 0.95
    """Level of the interval from ``low`` to ``high``, which holds the differences that this test does not reject."""

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


def paired_t_test(values: ArrayLike, others: ArrayLike, *, unit: Unit, level: float = 0.95) -> PairedTest:
    """Test paired differences by Student's t, with its interval.

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
        p = 1.0 if same else 0.0
        return PairedTest(mean, t, p, pairs, unit, "paired t test", pairs - 1, True, mean, mean, level)
    result = stats.ttest_rel(first, second)
    low, high = result.confidence_interval(level)
    t, p = float(result.statistic), float(result.pvalue)
    return PairedTest(mean, t, p, pairs, unit, "paired t test", pairs - 1, False, float(low), float(high), level)


def paired_permutation_test(
    values: ArrayLike,
    others: ArrayLike,
    *,
    unit: Unit,
    resamples: int = 9_999,
    seed: int = 0,
    level: float = 0.95,
) -> PairedTest:
    """Test the mean difference among those with the signs of the differences flipped at random (Fisher).

    All sign patterns are tried when there are no more than ``resamples`` of them. The interval holds all shifts of the
    differences that the same patterns do not reject; it has no end where there are too few pairs to reject any.
    """
    first, second = _pairs(values, others)
    differences = first - second
    mean, pairs = float(differences.mean()), differences.size
    flipped, signs, drawn = _sign_means(differences, resamples, seed)
    tolerance = 1e-14 * max(1.0, abs(mean))
    p = (int((np.abs(flipped) >= abs(mean) - tolerance).sum()) + drawn) / (flipped.size + drawn)
    # Once the data are shifted by d, a pattern is as extreme while |flipped - d signs| >= |mean - d|, which holds for d
    # between two numbers; for every d where all signs are alike.
    alike = np.abs(signs) > 1 - 0.5 / pairs
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.sort([(mean + flipped) / (1 + signs), (mean - flipped) / (1 - signs)], axis=0)
    below, above = np.where(alike, -math.inf, ends[0]), np.where(alike, math.inf, ends[1])
    rank = math.floor((1 - level) * (flipped.size + drawn)) - drawn
    high, low = (-np.sort(-above)[rank], np.sort(below)[rank]) if rank >= 0 else (math.inf, -math.inf)
    constant = _is_constant(first, second)
    method = "paired permutation test"
    return PairedTest(mean, mean, p, pairs, unit, method, None, constant, float(low), float(high), level)


def _sign_means(differences: Doubles, resamples: int, seed: int) -> tuple[Doubles, Doubles, int]:
    """Return means of differences and of ones under patterns of signs, and 1 if the patterns were drawn at random."""
    size = differences.size
    if size < 63 and 2**size <= resamples:
        patterns = (np.arange(2**size)[:, None] >> np.arange(size) & 1) * 2.0 - 1
        return patterns @ differences / size, patterns.mean(axis=1), 0
    generator = np.random.default_rng(seed)
    block = max(1, 4_000_000 // size)
    parts = []
    for begin in range(0, resamples, block):
        patterns = generator.integers(0, 2, size=(min(block, resamples - begin), size), dtype=np.int8) * 2.0 - 1
        parts.append(np.stack([patterns @ differences / size, patterns.mean(axis=1)]))
    flipped, signs = np.concatenate(parts, axis=1)
    return flipped, signs, 1


def holm(p_values: ArrayLike, *, level: float = 0.05) -> Correction:
    """Correct p values by Holm's step-down procedure, which holds the chance of any false rejection below the level."""
    given = numbers(p_values, "p values").reshape(-1)
    if given.size == 0 or not ((given >= 0) & (given <= 1)).all():
        raise DataError(f"p values must lie between 0 and 1, got {given.tolist()}")
    order = np.argsort(given, kind="stable")
    steps = np.arange(given.size, 0, -1)
    corrected = np.empty_like(given)
    corrected[order] = np.minimum(np.maximum.accumulate(given[order] * steps), 1.0)
    rejected = holm_rejected(given, holm_steps(given.size, level))
    return Correction(tuple(map(float, corrected)), tuple(map(bool, rejected)), level, "Holm")


def effect_size(values: ArrayLike, others: ArrayLike, *, unit: Unit) -> EffectSize:
    """Compute Cohen's d of paired values and Hedges' g, which multiplies it by ``1 - 3 / (4 (n - 1) - 1)``."""
    first, second = _pairs(values, others)
    differences = first - second
    mean = float(differences.mean())
    if _is_constant(first, second):
        cohen = 0.0 if abs(mean) <= _rounding(first, second) else math.copysign(math.inf, mean)
    else:
        cohen = mean / float(differences.std(ddof=1))
    unbiased = cohen * (1 - 3 / (4 * (differences.size - 1) - 1)) if math.isfinite(cohen) else cohen
    return EffectSize(cohen, unbiased, differences.size, unit)


def _pairs(values: ArrayLike, others: ArrayLike) -> tuple[Doubles, Doubles]:
    first, second = numbers(values, "values"), numbers(others, "values")
    if first.shape != second.shape:
        raise DataError(f"paired values must be equally many, got {first.size} and {second.size}")
    return finite_sample(first, least=2), finite_sample(second, least=2)


def _rounding(first: Doubles, second: Doubles) -> float:
    return 4 * float(np.finfo(np.float64).eps) * float(max(np.abs(first).max(), np.abs(second).max()))


def _is_constant(first: Doubles, second: Doubles) -> bool:
    return bool(np.ptp(first - second) <= _rounding(first, second))
