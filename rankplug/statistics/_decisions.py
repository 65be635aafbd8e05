"""Decisions on claims of one or several parts from the p values of the parts; see ``docs/verdicts.md``.

All functions take the parts along the last axis; axes before it are cases that are decided at once.

>>> tested = p_values(point=[0.9, 0.7], error=[0.2, 0.2], degrees=[9, 9], margin=0.5)
>>> str(all_greater(tested))
'holds'
>>> str(all_greater(p_values([0.9, -0.9], [0.2, 0.2], [9, 9], 0.5)))
'fails'
>>> str(all_greater(p_values([0.1, 0.02], [0.05, 0.05], [9, 9], 0.5)))
'no difference'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.statistics._estimates import Doubles

LEVEL = 0.05
"""Chance of a wrong verdict on one claim, at most; half of it on either side."""
Words = NDArray[Any]
Truths = NDArray[np.bool_]


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
        degrees: of freedom.
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


def _steps(p: PValues, steps: Doubles | None) -> Doubles:
    return holm_steps(p.greater.shape[-1]) if steps is None else steps


def all_greater(p: PValues, steps: Doubles | None = None) -> Words:
    """Decide a claim of "greater in every part".

    Args:
        p: of the parts.
        steps: levels of Holm's steps; those of one look at the data by default.
    """
    levels = _steps(p, steps)
    alike = p.alike < levels[-1]
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
    levels = _steps(p, steps)
    alike = p.alike < levels[-1]
    smaller = _unlike(np.minimum(p.greater, p.less), alike)
    return np.select(
        [holm_rejected(smaller, levels).any(axis=-1), alike.all(axis=-1)], ["fails", "holds"], "inconclusive"
    )


def any_greater(p: PValues, steps: Doubles | None = None) -> Words:
    """Decide a claim of "greater in some part"."""
    levels = _steps(p, steps)
    alike = p.alike < levels[-1]
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
    levels = _steps(p, steps)
    rejected = holm_rejected(_unlike(p.greater, p.alike < levels[-1]), levels).any(axis=-1)
    return np.select([rejected, (p.not_above < levels[-1]).all(axis=-1)], ["fails", "holds"], "inconclusive")


def best_is_greater(p: PValues) -> Words:
    """Decide for each of several methods whether the best of all is greater, by its differences to them.

    The data that judge have chosen the best, so that each of all pairs might have been asked for: Holm's steps begin
    as for all pairs, and any choice of pairs is safe.

    >>> [str(word) for word in best_is_greater(p_values([0.9, 0.01, 0.4], [0.1, 0.05, 0.2], [9, 9, 9], 0.5))]
    ['holds', 'no difference', 'inconclusive']

    Args:
        p: of the best minus each other method.
    """
    others = p.greater.shape[-1]
    levels = holm_steps(others * (others + 1) // 2)
    inside = p.alike < levels[-1]
    better = holm_rejected(_unlike(p.greater, inside), levels[:others])
    alike = holm_rejected(p.alike, levels[:others])
    return np.select([better, alike], ["holds", "no difference"], "inconclusive")
