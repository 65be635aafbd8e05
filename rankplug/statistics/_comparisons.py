"""Paired tests, effect sizes, Holm's correction, power, and Friedman's test with Nemenyi's critical difference.

The last is for several models over several data sets: Demsar, Statistical Comparisons of Classifiers over Multiple Data
Sets, JMLR 7, 2006.

>>> from rankplug.statistics import mean_of_trials
>>> estimate = mean_of_trials([0.1, 0.3, 0.2, 0.4])
>>> round(smallest_difference(estimate), 3), repetitions_needed(estimate, margin=0.1)
(0.269, 16)
>>> difference = critical_difference([[0.9, 0.8, 0.7]] * 6 + [[0.8, 0.9, 0.7]] * 4, unit="data sets")
>>> difference.average_ranks
(1.4, 1.6, 3.0)
>>> difference.groups
((0, 1),)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankplug.errors import DataError
from rankplug.statistics._decisions import LEVEL, holm_rejected, holm_steps
from rankplug.statistics._estimates import Doubles, Estimate, Unit, finite_sample
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
    values = numbers(p_values, "p values").reshape(-1)
    if values.size == 0 or not ((values >= 0) & (values <= 1)).all():
        raise DataError(f"p values must lie between 0 and 1, got {values.tolist()}")
    order = np.argsort(values, kind="stable")
    steps = np.arange(values.size, 0, -1)
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(np.maximum.accumulate(values[order] * steps), 1.0)
    rejected = holm_rejected(values, holm_steps(values.size, level))
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


POWER = 0.8
MOST = 100_000


def smallest_difference(estimate: Estimate, *, level: float = LEVEL / 2, power: float = POWER) -> float:
    """Return the true difference that this design finds with a certain power: ``(t_level + t_power) * error``."""
    from scipy import stats

    if not (np.isfinite(estimate.error) and estimate.degrees > 0):
        return math.inf
    reach = stats.t.isf(level, estimate.degrees) + stats.t.ppf(power, estimate.degrees)
    return float(reach * estimate.error)


def repetitions_needed(
    estimate: Estimate, margin: float, *, level: float = LEVEL / 2, power: float = POWER
) -> int | None:
    """Return how many repetitions in all would find a true difference of the margin; None where no number would.

    The spread is taken to stay as it is, and degrees of freedom to be those of the repetitions.
    """
    from scipy import stats

    if not np.isfinite(estimate.error):
        return None
    floor, rest = float(estimate.floor), (float(estimate.error) ** 2 - float(estimate.floor)) * estimate.count

    def finds(count: int) -> bool:
        degrees = max(count - 1.0, float(estimate.degrees) * (count - 1) / max(estimate.count - 1, 1))
        reach = stats.t.isf(level, degrees) + stats.t.ppf(power, degrees)
        return bool(reach * math.sqrt(floor + max(rest, 0.0) / count) <= margin)

    if not finds(MOST):
        return None
    low, high = 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle > 1 and finds(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class CriticalDifference:
    """Average ranks of models, 1 the best, and how far apart two must lie to differ."""

    average_ranks: tuple[float, ...]
    critical_difference: float
    friedman_statistic: float
    p_value: float
    """The p value of Friedman's test that all models rank alike."""
    blocks: int
    unit: Unit
    level: float

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Largest sets of models that are not told apart, best first; the bars of a critical-difference diagram."""
        order = sorted(range(len(self.average_ranks)), key=lambda model: self.average_ranks[model])
        widest: list[tuple[int, ...]] = []
        for begin, best in enumerate(order):
            limit = self.average_ranks[best] + self.critical_difference
            group = tuple(model for model in order[begin:] if self.average_ranks[model] <= limit)
            if len(group) > 1 and not any(set(group) <= set(wider) for wider in widest):
                widest.append(group)
        return tuple(widest)


def critical_difference(quality: ArrayLike, *, unit: Unit, level: float = 0.05) -> CriticalDifference:
    """Compute ranks of models within each block, Friedman's test, and Nemenyi's critical difference.

    The difference is ``q sqrt(m (m + 1) / (6 N))`` for m models and N blocks.

    Args:
        quality: one row a block (a data set, a fold, a query), one column a model; higher is better.
        unit: what a block is.
        level: of Nemenyi's test.
    """
    from scipy import stats

    table = numbers(quality, "quality")
    if table.ndim != 2 or table.shape[1] < 3 or table.shape[0] < 2 or not np.isfinite(table).all():
        raise DataError(
            f"Friedman's test needs finite values of at least 3 models in at least 2 blocks, got shape {table.shape}"
        )
    blocks, models = table.shape
    ranks = stats.rankdata(-table, axis=1)
    statistic, p_value = (0.0, 1.0) if np.ptp(ranks) == 0 else stats.friedmanchisquare(*table.T)
    quantile = stats.studentized_range.ppf(1 - level, models, np.inf) / math.sqrt(2)
    return CriticalDifference(
        tuple(map(float, ranks.mean(axis=0))),
        float(quantile * math.sqrt(models * (models + 1) / (6 * blocks))),
        float(statistic),
        float(p_value),
        blocks,
        unit,
        level,
    )
