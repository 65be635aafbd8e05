"""Intervals, tests, effect sizes and decisions: arrays in, numbers or a small frozen result out.

A number means little without what was repeated to get it: ten trials of one query set and ten thousand queries of one
trial answer different questions. Every interval and test therefore asks for the ``unit`` and carries it. SciPy
computes; this module fixes the conventions. It has three parts:

- means with confidence intervals, and mean differences with their standard errors, by what was repeated,
- decisions on claims of one or several parts, by the rules of ``docs/verdicts.md``,
- paired tests, effect sizes, Holm's correction, power, and Friedman's test with Nemenyi's critical difference (Demsar,
  Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006).

Functions of estimates take arrays whose last axes are the repetitions, functions of decisions arrays whose last axis
are the parts of a claim; axes before them are cases that are computed at once.

>>> str(t_interval([0.41, 0.43, 0.42, 0.44], unit="trials"))
'0.4250 [0.4045, 0.4455] (95% t interval over 4 trials)'
>>> estimate = mean_of_trials([0.1, 0.3, 0.2, 0.4])
>>> float(estimate.point), round(float(estimate.error), 4), float(estimate.degrees)
(0.25, 0.0645, 3.0)
>>> round(float(mean_of_resplits([0.1, 0.3, 0.2, 0.4], test_to_train=1 / 3).error), 4)
0.0986
>>> str(all_greater(p_values(point=[0.9, 0.7], error=[0.2, 0.2], degrees=[9, 9], margin=0.5)))
'holds'
>>> str(all_greater(p_values([0.9, -0.9], [0.2, 0.2], [9, 9], 0.5)))
'fails'
>>> str(all_greater(p_values([0.1, 0.02], [0.05, 0.05], [9, 9], 0.5)))
'no difference'
>>> round(smallest_difference(estimate), 3), repetitions_needed(estimate, margin=0.1)
(0.269, 16)
>>> difference = critical_difference([[0.9, 0.8, 0.7]] * 6 + [[0.8, 0.9, 0.7]] * 4, unit="data sets")
>>> difference.average_ranks, difference.groups
((1.4, 1.6, 3.0), ((0, 1),))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.errors import DataError
from rankplug.system import numbers

Unit = Literal["trials", "folds", "queries", "data sets", "trials, then queries"]
Doubles = NDArray[np.float64]
Truths = NDArray[np.bool_]
Words = NDArray[Any]

LEVEL = 0.05
"""Chance of a wrong verdict on one claim, at most; half of it on either side."""
POWER = 0.8
FEW = 4
"""Degrees of freedom between seeds below which they alone count, as Satterthwaite's would be too many."""
MOST = 100_000
"""Repetitions that are thought possible."""


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

    sample = _finite(values, least=1)
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
        values: for each trial a float array of shape (queries,), nan left out; of two models, the differences.
        level: level of the interval.
        resamples: number of bootstrap samples of both.
        seed: random seed.
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


def _finite(values: ArrayLike, least: int) -> Doubles:
    sample: Doubles = numbers(values, "values").reshape(-1)
    if sample.size < least or not np.isfinite(sample).all():
        raise DataError(
            f"statistics need at least {least} finite values, got {sample.size} of which"
            f" {int(np.isfinite(sample).sum())} are finite; leave out queries that are nan first"
        )
    return sample


def _resampled_means(row: Doubles, draws: int, generator: Any) -> Doubles:
    parts = [row[generator.integers(row.size, size=(size, row.size))].mean(axis=1) for size in _blocks(draws, row.size)]
    return np.concatenate([np.empty(0), *parts])


def _blocks(count: int, size: int) -> list[int]:
    """Split a number of samples of some size into blocks that fit into memory."""
    block = max(1, 4_000_000 // size)
    return [min(block, count - begin) for begin in range(0, count, block)]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean difference, as t statistics need it.

    Args:
        point: the mean.
        error: its standard error.
        degrees: degrees of freedom of the error.
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
        folds: for each fold an array of shape (..., queries, seeds), with the same number of seeds.
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


@dataclass(frozen=True, eq=False)
class PValues:
    """One-sided p values of the parts of a claim.

    Args:
        greater: against a difference of zero or less.
        less: against a difference of zero or more.
        not_above: against a difference of the margin or more.
        not_below: against a difference of minus the margin or less.
    """

    greater: Doubles
    less: Doubles
    not_above: Doubles
    not_below: Doubles

    @property
    def alike(self) -> Doubles:
        """Against a difference of the margin or more to either side: two one-sided tests."""
        return np.maximum(self.not_above, self.not_below)


def p_values(point: ArrayLike, error: ArrayLike, degrees: ArrayLike, margin: ArrayLike) -> PValues:
    """Compute the p values of Student's t; without any spread a difference is taken as it is.

    Args:
        point: the mean difference of each part.
        error: its standard error; nan where it is unknown, which settles nothing.
        degrees: degrees of freedom.
        margin: the difference that would matter.
    """
    from scipy import stats

    d, se, df, m = (np.asarray(values, np.float64) for values in (point, error, degrees, margin))

    def above(bound: Doubles) -> Doubles:
        distance = d - bound
        known = np.isfinite(se) & (df > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(se > 0, distance / se, np.where(distance == 0, 0.0, np.copysign(np.inf, distance)))
        return np.where(known, stats.t.sf(t, np.where(df > 0, df, 1.0)), 1.0)

    def below(bound: Doubles) -> Doubles:
        return np.where(np.isfinite(se) & (df > 0), 1.0 - above(bound), 1.0)

    zero = np.zeros_like(m)
    return PValues(above(zero), below(zero), below(m), above(-m))


def holm_steps(parts: int, level: float = LEVEL / 2) -> Doubles:
    """Return the levels for the smallest, second smallest ... p value by Holm; the last is the level itself."""
    return level / np.arange(parts, 0, -1)


def look_steps(looks: int) -> Callable[[int], Doubles]:
    """Return Holm's steps for each of several looks at growing data, with equal shares of the level.

    The shares add up to the level, so that the chance of any wrong rejection over all looks is no more than that of one
    look, however the looks depend on each other.

    >>> (look_steps(5)(2) * 1000).round(3).tolist()
    [2.5, 5.0]
    """
    return lambda parts: holm_steps(parts, LEVEL / 2 / looks)


def holm_rejected(p: Doubles, steps: Doubles) -> Truths:
    """Tell which parts Holm's step-down procedure rejects.

    >>> holm_rejected(np.array([0.01, 0.04, 0.03]), holm_steps(3, level=0.05)).tolist()
    [True, False, False]
    """
    order = np.argsort(p, axis=-1, kind="stable")
    rejected = np.logical_and.accumulate(np.take_along_axis(p, order, axis=-1) <= steps, axis=-1)
    rejections = np.empty_like(rejected)
    np.put_along_axis(rejections, order, rejected, axis=-1)
    return rejections


def _unlike(p: Doubles, alike: Truths) -> Doubles:
    """Return the p values of a direction; a part whose interval lies inside the margin counts for none."""
    return np.where(alike, 1.0, p)


def _steps(p: PValues, steps: Doubles | None) -> tuple[Doubles, Truths]:
    """Return Holm's levels, those of one look by default, and which parts differ by less than the margin."""
    levels = holm_steps(p.greater.shape[-1]) if steps is None else steps
    return levels, p.alike < levels[-1]


def all_greater(p: PValues, steps: Doubles | None = None) -> Words:
    """Decide a claim of "greater in every part".

    Args:
        p: p values of the parts.
        steps: levels of Holm's steps; those of one look at the data by default.
    """
    levels, alike = _steps(p, steps)
    greater = (p.greater < levels[-1]) & ~alike
    worse = holm_rejected(_unlike(p.less, alike), levels).any(axis=-1)
    partly = (greater | holm_rejected(p.alike, levels)).all(axis=-1)
    return np.select(
        [worse, greater.all(axis=-1), alike.all(axis=-1) | partly],
        ["fails", "holds", "no difference"],
        "inconclusive",
    )


def all_alike(p: PValues, steps: Doubles | None = None) -> Words:
    """Decide a claim of "alike in every part"."""
    levels, alike = _steps(p, steps)
    smaller = _unlike(np.minimum(p.greater, p.less), alike)
    return np.select(
        [holm_rejected(smaller, levels).any(axis=-1), alike.all(axis=-1)], ["fails", "holds"], "inconclusive"
    )


def any_greater(p: PValues, steps: Doubles | None = None) -> Words:
    """Decide a claim of "greater in some part"."""
    levels, alike = _steps(p, steps)
    rejected = holm_rejected(_unlike(p.greater, alike), levels).any(axis=-1)
    return np.select(
        [rejected, (p.less < levels[-1]).all(axis=-1), (p.not_above < levels[-1]).all(axis=-1)],
        ["holds", "fails", "no difference"],
        "inconclusive",
    )


def none_greater(p: PValues, steps: Doubles | None = None) -> Words:
    """Decide a claim of "greater in no part", which may well be smaller.

    >>> estimates = ((-0.9, 0.1), (0.1, 0.1), (0.2, 0.2), (0.9, 0.1))
    >>> [str(none_greater(p_values([mean], [error], [9], 0.5))) for mean, error in estimates]
    ['holds', 'holds', 'inconclusive', 'fails']
    """
    levels, alike = _steps(p, steps)
    rejected = holm_rejected(_unlike(p.greater, alike), levels).any(axis=-1)
    return np.select([rejected, (p.not_above < levels[-1]).all(axis=-1)], ["fails", "holds"], "inconclusive")


def best_is_greater(p: PValues) -> Words:
    """Decide for each of several methods whether the best of all is greater, by its differences to them.

    The data that judge have chosen the best, so that each of all pairs might have been asked for: Holm's steps begin
    as for all pairs, and any choice of pairs is safe.

    >>> [str(word) for word in best_is_greater(p_values([0.9, 0.01, 0.4], [0.1, 0.05, 0.2], [9, 9, 9], 0.5))]
    ['holds', 'no difference', 'inconclusive']

    Args:
        p: p values of the best minus each other method.
    """
    others = p.greater.shape[-1]
    levels = holm_steps(others * (others + 1) // 2)
    inside = p.alike < levels[-1]
    better = holm_rejected(_unlike(p.greater, inside), levels[:others])
    alike = holm_rejected(p.alike, levels[:others])
    return np.select([better, alike], ["holds", "no difference"], "inconclusive")


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
    parts = []
    for block in _blocks(resamples, size):
        patterns = generator.integers(0, 2, size=(block, size), dtype=np.int8) * 2.0 - 1
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


def effect_size(values: ArrayLike, others: ArrayLike) -> float:
    """Compute Hedges' g: Cohen's d of paired values times ``1 - 3 / (4 (n - 1) - 1)``, which takes its bias away."""
    first, second = _pairs(values, others)
    differences = first - second
    mean = float(differences.mean())
    if _is_constant(first, second):
        return 0.0 if abs(mean) <= _rounding(first, second) else math.copysign(math.inf, mean)
    return mean / float(differences.std(ddof=1)) * (1 - 3 / (4 * (differences.size - 1) - 1))


def _pairs(values: ArrayLike, others: ArrayLike) -> tuple[Doubles, Doubles]:
    first, second = numbers(values, "values"), numbers(others, "values")
    if first.shape != second.shape:
        raise DataError(f"paired values must be equally many, got {first.size} and {second.size}")
    return _finite(first, least=2), _finite(second, least=2)


def _rounding(first: Doubles, second: Doubles) -> float:
    return 4 * float(np.finfo(np.float64).eps) * float(max(np.abs(first).max(), np.abs(second).max()))


def _is_constant(first: Doubles, second: Doubles) -> bool:
    return bool(np.ptp(first - second) <= _rounding(first, second))


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
        quality: array of shape (blocks, models), a block being a data set, a fold or a query; higher is better.
        unit: name of a block.
        level: level of Nemenyi's test.
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
