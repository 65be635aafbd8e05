"""Verdicts on claims, computed from trials by a stated statistic and level.

A claim that one thing exceeds another holds where a one-sided paired t test over trials says so, fails where the
opposite test says so, and is inconclusive otherwise. A claim that two things are alike is judged by the interval of
their difference: it fails where the interval excludes zero, and holds only where the interval is also narrower than a
difference anyone would care about.

>>> judge_greater([0.52, 0.54, 0.53], [0.50, 0.51, 0.52]).verdict
'holds'
>>> judge_greater([0.50, 0.51, 0.52], [0.52, 0.54, 0.53]).verdict
'fails'
>>> judge_greater([0.50, 0.55], [0.52, 0.50]).verdict
'inconclusive'
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.statistics import Unit, paired_t_test, t_interval
from rankplug.studies.papers import Verdict

Values = NDArray[np.float64]
Sample = ArrayLike | Mapping[str, Any]


def judge_greater(
    larger: Sample, smaller: Sample, *, level: float = 0.05, scale: float = 1.0, unit: Unit = "trials"
) -> Verdict:
    """Whether the first is larger than the second on average over pairs, which are trials unless said otherwise.

    A claim of several parts holds where all of them hold, which needs no correction for their number.

    Args:
        larger: one value a pair; for a claim of several parts, the values of each.
        smaller: the same for the other.
        level: of the one-sided test.
        scale: factor on the numbers in the evidence, such as 100 for percent.
        unit: what is paired.
    """
    parts = {name: _greater(*pair, level, scale, unit) for name, pair in _pairs(larger, smaller).items()}
    return judge_all(parts, f"one-sided paired t test over {unit}, level {level:g}")


def _greater(first: Values, second: Values, level: float, scale: float, unit: Unit) -> Verdict:
    if first.size < 2:
        return Verdict("inconclusive", f"no test is possible, pairs of {unit}: {first.size}")
    test = paired_t_test(first, second, unit=unit)
    p_larger = test.p_value / 2 if test.difference > 0 else 1 - test.p_value / 2
    evidence = f"{_difference(first, second, scale, unit)}, p = {p_larger:.2g}"
    if p_larger < level:
        return Verdict("holds", evidence)
    return Verdict("fails" if 1 - p_larger < level else "inconclusive", evidence)


def judge_alike(values: Sample, others: Sample, *, margin: float, scale: float = 1.0, unit: Unit = "trials") -> Verdict:
    """Whether two things are alike over pairs, which are trials unless said otherwise.

    Args:
        values: one value a pair; for a claim of several parts, the values of each.
        others: the same for the other.
        margin: a difference that would matter; an interval that reaches farther settles nothing.
        scale: factor on the numbers in the evidence, such as 100 for percent.
        unit: what is paired.
    """
    parts = {name: _alike(*pair, margin, scale, unit) for name, pair in _pairs(values, others).items()}
    return judge_all(parts, f"alike where the interval holds 0 and lies within {scale * margin:g} of it")


def _alike(first: Values, second: Values, margin: float, scale: float, unit: Unit) -> Verdict:
    if first.size < 2:
        return Verdict("inconclusive", f"no interval is possible, pairs of {unit}: {first.size}")
    interval = t_interval(first - second, unit=unit)
    evidence = _difference(first, second, scale, unit)
    if interval.low > 0 or interval.high < 0:
        return Verdict("fails", evidence)
    return Verdict("holds" if max(-interval.low, interval.high) <= margin else "inconclusive", evidence)


def _pairs(values: Sample, others: Sample) -> dict[str, tuple[Values, Values]]:
    if not isinstance(values, Mapping) or not isinstance(others, Mapping):
        values, others = {"": values}, {"": others}
    return {name: (np.asarray(values[name], np.float64), np.asarray(others[name], np.float64)) for name in values}


def _difference(first: Values, second: Values, scale: float, unit: Unit) -> str:
    interval = t_interval(scale * (first - second), unit=unit)
    return f"difference {interval.point:+.3g} [{interval.low:+.3g}, {interval.high:+.3g}] over {first.size} {unit}"


def judge_identity(largest_error: float, tolerance: float, what: str) -> Verdict:
    """Whether something that must be equal is, up to rounding."""
    evidence = f"{what}: largest deviation {largest_error:.2g}, allowed {tolerance:g}"
    return Verdict("holds" if math.isfinite(largest_error) and largest_error <= tolerance else "fails", evidence)


def judge_bound(least_slack: float, what: str) -> Verdict:
    """Whether a bound holds in all cases that were tried, up to rounding."""
    evidence = f"{what}: smallest slack {least_slack:.3g}"
    return Verdict("holds" if least_slack >= -1e-9 else "fails", evidence)


def judge_all(parts: Mapping[str, Verdict], test: str = "") -> Verdict:
    """A claim of several parts: holds where all hold, fails where any fails.

    >>> judge_all({"one": Verdict("holds", "a"), "two": Verdict("inconclusive", "b")})
    Verdict(verdict='inconclusive', evidence='one: a, holds; two: b, inconclusive')
    """
    if not parts:
        return Verdict("inconclusive", "nothing that the claim speaks of was run")
    clauses = [f"{name}: {verdict.evidence}, {verdict.verdict}" for name, verdict in parts.items()]
    evidence = "; ".join(clauses) if len(parts) > 1 else next(iter(parts.values())).evidence
    found = max((verdict.verdict for verdict in parts.values()), key=("holds", "inconclusive", "fails").index)
    return Verdict(found, evidence + (f" ({test})" if test else ""))
