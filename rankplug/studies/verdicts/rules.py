"""The rules by which evidence becomes a verdict; ``docs/verdicts.md`` states them in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rankplug.statistics import (
    LEVEL,
    Doubles,
    PValues,
    all_alike,
    all_greater,
    any_greater,
    holm_steps,
    none_greater,
    p_values,
    repetitions_needed,
    smallest_difference,
)
from rankplug.studies.verdicts.evidence import Check, Checks, Differences, Evidence
from rankplug.studies.verdicts.samples import Values
from rankplug.studies.verdicts.verdict import Judgement, Needs, Part, Verdict

POWER = 0.8
Steps = Callable[[int], Doubles]
"""Levels of Holm's steps for a number of parts."""
DECIDE = {
    "greater in all parts": all_greater,
    "alike in all parts": all_alike,
    "greater in some part": any_greater,
    "greater in no part": none_greater,
    "reached in all parts": all_alike,
}
REACHED = {"greater": "exceeded", "smaller": "missed", "no difference": "reached"}
Cost = Callable[[frozenset[tuple[str, str]]], float | None]
"""Core-minutes that one more repetition of some runs takes."""


def judge(
    evidence: Evidence,
    *,
    margin: float = math.nan,
    scale: float = 1.0,
    measured_in: str = "",
    data: str = "",
    data_of: Callable[[Values], str] | None = None,
    steps: Steps = holm_steps,
    looks: int = 1,
    cost: Cost | None = None,
) -> Judgement:
    """Return the verdict on a claim; evidence that is already an answer is returned as it is.

    Args:
        evidence: what the claim's statistic gave.
        margin: the difference that would matter, in the statistic's own unit.
        scale: factor on differences for a reader, such as 100 for points.
        measured_in: what they are then measured in.
        data: what was tried on.
        data_of: tells what a part was tried on.
        steps: levels of the tests, those of a single look by default.
        looks: how often the growing data were looked at.
        cost: tells what more repetitions take.
    """
    if isinstance(evidence, Checks):
        return _of_checks(evidence, data)
    if not isinstance(evidence, Differences):
        return evidence
    if not margin > 0:
        raise ValueError(f"a claim about differences needs a margin above 0, got {margin}")
    names, samples = list(evidence.parts), list(evidence.parts.values())
    estimates = [sample.estimate for sample in samples]
    p = p_values(
        [estimate.point for estimate in estimates],
        [estimate.error for estimate in estimates],
        [estimate.degrees for estimate in estimates],
        margin,
    )
    levels = steps(len(samples))
    word = str(DECIDE[evidence.question](p, levels))
    parts = [
        replace(
            _part(name, sample, p, index, margin, scale, float(levels[-1])), data=data_of(sample) if data_of else ""
        )
        for index, (name, sample) in enumerate(zip(names, samples, strict=True))
    ]
    order = _decisive_first(parts, word, evidence.question)
    needs = _needs([samples[index] for index in order if parts[index].answer == "open"], margin, scale, levels, cost)
    if evidence.question == "reached in all parts":
        parts = [replace(part, answer=REACHED.get(part.answer, part.answer)) for part in parts]
    notes = evidence.notes
    if word == "no difference" and any(part.answer == "greater" for part in parts):
        notes = ("a difference in some parts, none that matters in the others", *notes)
    return Verdict(
        word,  # type: ignore[arg-type]
        tuple(parts[index] for index in order),
        measured_in,
        LEVEL,
        needs if word == "inconclusive" else None,
        data,
        looks,
        notes,
    )


def _part(name: str, sample: Values, p: PValues, index: int, margin: float, scale: float, level: float) -> Part:
    from scipy import stats

    estimate = sample.estimate
    point = float(estimate.point)
    reach = float(stats.t.isf(level, estimate.degrees) * estimate.error) if estimate.degrees > 0 else math.nan
    greater, less, alike = (float(values[index]) for values in (p.greater, p.less, p.alike))
    answer = "open"
    if alike < level:
        answer = "no difference"
    elif min(greater, less) < level:
        answer = "greater" if greater < less else "smaller"
    return Part(
        name,
        answer,
        scale * point,
        scale * (point - reach),
        scale * (point + reach),
        scale * margin,
        estimate.count,
        sample.extent,
        min(greater, less),
        alike,
    )


def _decisive_first(parts: list[Part], word: str, question: str) -> list[int]:
    """Sort the parts, those that speak most against the claim first, and return their positions."""
    towards = -1.0 if question in ("greater in some part", "greater in no part") else 1.0

    def place(at: int) -> tuple[bool, float]:
        part = parts[at]
        if question in ("alike in all parts", "reached in all parts"):
            ends = [abs(part.low), abs(part.high)] if math.isfinite(part.low) else [math.inf]
            return word == "inconclusive" and part.answer != "open", -max(ends)
        lowest = part.low if math.isfinite(part.low) else -math.inf
        return word == "inconclusive" and part.answer != "open", towards * lowest

    return sorted(range(len(parts)), key=place)


def _needs(open_parts: list[Values], margin: float, scale: float, levels: Doubles, cost: Cost | None) -> Needs | None:
    """Return what the widest of the open parts needs; power is shared among the parts, so that all are found."""
    if not open_parts:
        return None
    level, power = float(levels[-1]), 1.0 - (1.0 - POWER) / len(open_parts)
    smallest = [smallest_difference(part.estimate, level=level, power=power) for part in open_parts]
    needed = [repetitions_needed(sample.estimate, margin, level=level, power=power) for sample in open_parts]
    widest = open_parts[int(np.argmax(smallest))]
    unit = widest.repeats
    if any(count is None for count in needed):
        return Needs(scale * max(smallest), None, unit)
    count = max(count for count in needed if count is not None)
    runs = frozenset[tuple[str, str]]().union(*(sample.runs for sample in open_parts))
    one_more = cost(runs) if cost else None
    more = max(count - min(sample.estimate.count for sample in open_parts), 0)
    return Needs(scale * max(smallest), count, unit, None if one_more is None else more * one_more)


def _of_checks(evidence: Checks, data: str) -> Verdict:
    parts = {name: _checked(name, check) for name, check in evidence.parts.items()}
    rank = ("fails", "open", "holds")
    ordered = sorted(parts.values(), key=lambda part: rank.index(part.answer))
    word = {"open": "inconclusive"}.get(ordered[0].answer, ordered[0].answer)
    return Verdict(word, tuple(ordered), data=data, notes=evidence.notes)  # type: ignore[arg-type]


def _checked(name: str, check: Check) -> Part:
    least, most = math.isfinite(check.at_least), math.isfinite(check.at_most)
    limit = (
        f"between {check.at_least:.3g} and {check.at_most:.3g}"
        if least and most
        else (f"at most {check.at_most:.3g}" if most else f"at least {check.at_least:.3g}")
    )
    words = f"{check.what} {check.value:.3g}, {limit} if it is right"
    if check.control_of:
        words += f"; {check.control_of}: {check.control:.3g}"
    answer = ("holds" if check.passes else "fails") if check.tells and not math.isnan(check.value) else "open"
    if math.isnan(check.value):
        answer = "fails"
    return Part(name, answer, check.value, margin=check.at_most if most else check.at_least, extent=words)
