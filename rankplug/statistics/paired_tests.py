"""Paired tests, effect sizes, and Holm's correction for a family of tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankplug.errors import DataError
from rankplug.statistics.decisions import holm_rejected, holm_steps
from rankplug.statistics.intervals import Doubles, Unit, finite_sample


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


def holm(p_values: ArrayLike, *, level: float = 0.05) -> Correction:
    """Holm's step-down correction, which holds the chance of any false rejection below the level."""
    given = np.asarray(p_values, dtype=np.float64).reshape(-1)
    if given.size == 0 or not ((given >= 0) & (given <= 1)).all():
        raise DataError(f"p values must lie between 0 and 1, got {given.tolist()}")
    order = np.argsort(given, kind="stable")
    steps = np.arange(given.size, 0, -1)
    corrected = np.empty_like(given)
    corrected[order] = np.minimum(np.maximum.accumulate(given[order] * steps), 1.0)
    rejected = holm_rejected(given, holm_steps(given.size, level))
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


def _pairs(values: ArrayLike, others: ArrayLike) -> tuple[Doubles, Doubles]:
    first, second = np.asarray(values, dtype=np.float64), np.asarray(others, dtype=np.float64)
    if first.shape != second.shape:
        raise DataError(f"paired values must be equally many, got {first.size} and {second.size}")
    return finite_sample(first, least=2), finite_sample(second, least=2)


def _rounding(first: Doubles, second: Doubles) -> float:
    return 4 * float(np.finfo(np.float64).eps) * float(max(np.abs(first).max(), np.abs(second).max()))


def _is_constant(first: Doubles, second: Doubles) -> bool:
    return bool(np.ptp(first - second) <= _rounding(first, second))
