"""Verdicts on claims: evidence in, one of four words out, by the rules that ``docs/verdicts.md`` states.

>>> import numpy as np
>>> from rankplug.studies import IndependentTrials, Sample
>>> gains = Sample(np.array([0.009, 0.008, 0.012, 0.010]), IndependentTrials())
>>> verdict = judge(greater({"ndcg@5": gains}), margin=0.005, scale=100, measured_in="points")
>>> verdict.verdict
'holds'
>>> print(verdict.sentence)
ndcg@5: +0.975 points [+0.703, +1.25] over 4 trials, margin 0.5, p = 0.00072
>>> judge(greater({"ndcg@5": gains}), margin=0.02, scale=100, measured_in="points").verdict
'no difference'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from rankplug.statistics import (
    LEVEL,
    Doubles,
    all_alike,
    all_greater,
    any_greater,
    holm_steps,
    none_greater,
    repetitions_needed,
    smallest_difference,
)
from rankplug.studies.samples import Values, p_values_of

Word = Literal["holds", "fails", "no difference", "inconclusive"]
VERDICTS: tuple[Word, ...] = ("holds", "fails", "no difference", "inconclusive")
DECIDED = frozenset(VERDICTS) - {"inconclusive"}


@dataclass(frozen=True)
class Part:
    """One part of a claim: its effect with interval, or the number of an exact check.

    Args:
        name: name of the part; empty where there is one.
        answer: ``greater``, ``smaller``, ``no difference`` or ``open``; of a check ``holds``, ``fails`` or ``open``.
        effect: the mean difference, or the check's number.
        low, high: the interval.
        margin: the difference that would matter, or the check's limit.
        count: number of repetitions.
        extent: repetitions that the mean is taken over, in words; of a check, its numbers in words.
        p: one-sided p value, in the direction of the effect.
        p_alike: p value of the two one-sided tests that the difference is within the margin.
        data: name of the data.
    """

    name: str
    answer: str
    effect: float
    low: float = math.nan
    high: float = math.nan
    margin: float = math.nan
    count: int = 0
    extent: str = ""
    p: float = math.nan
    p_alike: float = math.nan
    data: str = ""

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> Part:
        """Read a part as :meth:`Verdict.describe` writes it."""
        values: Any = {name: math.nan if value is None else value for name, value in described.items()}
        return cls(**values)

    @property
    def in_margins(self) -> tuple[float, float, float]:
        """Effect, low and high in units of the margin."""
        return self.effect / self.margin, self.low / self.margin, self.high / self.margin


@dataclass(frozen=True)
class Needs:
    """Requirements for deciding an open claim.

    Args:
        smallest: the difference that this design finds with power .8, in the unit of the effect.
        repetitions: number of repetitions in all that find a difference of the margin; None where no number does.
        unit: unit of the repetitions.
        core_minutes: time of those beyond the present ones; None where no time was recorded.
    """

    smallest: float
    repetitions: int | None
    unit: str
    core_minutes: float | None = None

    @property
    def sentence(self) -> str:
        """The requirements in words."""
        sentence = f"this design finds a difference of {number(self.smallest)} with power .8"
        if not math.isfinite(self.smallest):
            sentence = "one repetition has no interval"
        if self.repetitions is None:
            return f"{sentence}; no number of {self.unit} decides it at the margin, it takes more queries"
        time = "" if not self.core_minutes else f", {_minutes(self.core_minutes)} more"
        return f"{sentence}; {self.repetitions} {self.unit} would decide it at the margin{time}"


@dataclass(frozen=True)
class Verdict:
    """Verdict on a claim with the evidence for it.

    Args:
        verdict: one of four words.
        parts: the claim's parts, the decisive one first.
        measured_in: unit of effects, intervals and margins.
        level: chance of a wrong verdict, at most.
        needs: requirements for deciding an inconclusive verdict.
        data: name of the data, such as ``made data``.
        looks: number of looks at the growing data.
        notes: further sentences.
    """

    verdict: Word
    parts: tuple[Part, ...]
    measured_in: str = ""
    level: float = 0.05
    needs: Needs | None = None
    data: str = ""
    looks: int = 1
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.verdict!r} is none of {', '.join(VERDICTS)}")

    @property
    def decided(self) -> bool:
        """Tell whether the verdict is other than inconclusive."""
        return self.verdict in DECIDED

    @property
    def decisive(self) -> Part:
        """The part that decides, or that keeps the claim open."""
        return self.parts[0]

    @property
    def exact(self) -> bool:
        """Tell whether the verdict is free of chance."""
        return all(not part.count for part in self.parts)

    @property
    def clauses(self) -> list[str]:
        """The sentence, clause by clause."""
        clauses = [f"on {self.data}"] if self.data else []
        clauses += map(self._clause, self.parts)
        clauses += [f"{self.looks} looks at growing data"] if self.looks > 1 else []
        clauses += [self.needs.sentence] if self.needs else []
        return [*clauses, *self.notes]

    @property
    def sentence(self) -> str:
        """The evidence in words."""
        return "; ".join(self.clauses)

    @property
    def lines(self) -> str:
        """The evidence in HTML, a line for each clause."""
        return ";<br>".join(self.clauses)

    def _clause(self, part: Part) -> str:
        name = f"{part.name}: " if part.name else ""
        answer = f", {part.answer}" if len(self.parts) > 1 else ""
        if not part.count:
            return f"{name}{part.extent}{answer}"
        unit = f" {self.measured_in}" if self.measured_in else ""
        if not math.isfinite(part.low):
            return f"{name}{number(part.effect, '+')}{unit} over {part.extent}, no interval{answer}"
        interval = f"{number(part.effect, '+')}{unit} [{number(part.low, '+')}, {number(part.high, '+')}]"
        p = part.p_alike if part.answer == "no difference" else part.p
        return f"{name}{interval} over {part.extent}, margin {number(part.margin)}, p = {p:.2g}{answer}"

    def describe(self) -> dict[str, Any]:
        """Return the verdict as plain values for JSON; undefined numbers are None."""
        return {**_plain(asdict(self)), "sentence": self.sentence}

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> Verdict:
        """Read a verdict that :meth:`describe` wrote."""
        values: dict[str, Any] = {name: value for name, value in described.items() if name != "sentence"}
        if needs := values["needs"]:
            values["needs"] = Needs(
                **{**needs, "smallest": math.inf if needs["smallest"] is None else needs["smallest"]}
            )
        parts = tuple(map(Part.read, values["parts"]))
        return cls(**{**values, "parts": parts, "notes": tuple(values["notes"])})


@dataclass(frozen=True)
class Abstention:
    """A claim that gets no verdict, and why.

    Args:
        verdict: the word that stands in the place of a verdict.
        reason: a clause.
    """

    verdict: Literal["not run", "not comparable"]
    reason: str

    @property
    def sentence(self) -> str:
        """The reason."""
        return self.reason

    lines = sentence

    def describe(self) -> dict[str, str]:
        """Return plain values for JSON."""
        return {"verdict": self.verdict, "reason": self.reason}


Judgement = Verdict | Abstention
"""Answer to a claim: a verdict, or the reason why there is none."""


def read_judgement(described: Mapping[str, Any]) -> Judgement:
    """Read an answer that its own ``describe`` wrote."""
    return Verdict.read(described) if described["verdict"] in VERDICTS else Abstention(**described)


def number(value: float, sign: str = "") -> str:
    """Format a number with three digits, without an exponent where there need be none.

    >>> number(0.9754, "+"), number(1234.5), number(2.0)
    ('+0.975', '1234', '2')
    """
    return f"{value:{sign}.0f}" if 1000 <= abs(value) < 1e6 else f"{value:{sign}.3g}"


def _minutes(minutes: float) -> str:
    if minutes < 1:
        return f"{60 * minutes:.0f} core-seconds"
    return f"{minutes:.0f} core-minutes" if minutes < 120 else f"{minutes / 60:.0f} core-hours"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


Question = Literal[
    "greater in all parts", "alike in all parts", "greater in some part", "greater in no part", "reached in all parts"
]


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences of the parts of a claim, and what the claim says of them.

    Args:
        parts: name -> sample; one part may have an empty name.
        question: the kind of the claim.
        notes: sentences that belong to the evidence.
    """

    parts: Mapping[str, Values]
    question: Question
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """A number that decides by itself, as no chance is in it.

    Args:
        what: the number, in words.
        value: the number.
        at_most: the largest value with which the claim is right; or
        at_least: the smallest.
        control: the number in a case whose answer is known to be the opposite: where the claim is right, one where it
            is wrong. A check that cannot tell the two apart decides nothing.
        control_of: the case, in words.
    """

    what: str
    value: float
    at_most: float = math.inf
    at_least: float = -math.inf
    control: float = math.nan
    control_of: str = ""

    @property
    def passes(self) -> bool:
        """Tell whether the value is on the side of the claim."""
        return self.at_least <= self.value <= self.at_most

    @property
    def tells(self) -> bool:
        """Tell whether the control falls on the other side."""
        return (self.at_least <= self.control <= self.at_most) != self.passes


@dataclass(frozen=True, eq=False)
class Checks:
    """Exact checks of the parts of a claim."""

    parts: Mapping[str, Check]
    notes: tuple[str, ...] = ()


Evidence = Differences | Checks | Abstention


def exact_check(
    what: str,
    value: Callable[[], float],
    *,
    at_most: float = math.inf,
    at_least: float = -math.inf,
    control: Callable[[], float],
    control_of: str,
) -> Callable[[object], Checks]:
    """Return the statistic of one exact check, which computes its two numbers when it is judged; see :class:`Check`."""
    return lambda results: Checks({"": Check(what, value(), at_most, at_least, control(), control_of)})


def greater(parts: Mapping[str, Values], *notes: str) -> Evidence:
    """Make evidence on a claim that every part's difference is positive."""
    return Differences(parts, "greater in all parts", notes) if parts else nothing_run()


def alike(parts: Mapping[str, Values], *notes: str) -> Evidence:
    """Make evidence on a claim that no part has a difference that matters."""
    return Differences(parts, "alike in all parts", notes) if parts else nothing_run()


def some_greater(parts: Mapping[str, Values], *notes: str) -> Evidence:
    """Make evidence on a claim that some part's difference is positive."""
    return Differences(parts, "greater in some part", notes) if parts else nothing_run()


def no_greater(parts: Mapping[str, Values], *notes: str) -> Evidence:
    """Make evidence on a claim that no part has a positive difference that matters."""
    return Differences(parts, "greater in no part", notes) if parts else nothing_run()


def reached(parts: Mapping[str, Values], *notes: str) -> Evidence:
    """Make evidence on a claim that one run of ours gives the published numbers."""
    return Differences(parts, "reached in all parts", notes) if parts else nothing_run()


def nothing_run() -> Abstention:
    """Return the answer for a claim none of whose subjects was run."""
    return not_run("nothing that the claim speaks of was run")


def not_run(reason: str) -> Abstention:
    """Return the answer for a claim whose runs are not part of a profile, or were not run to their end."""
    return Abstention("not run", reason)


def not_comparable(reason: str) -> Abstention:
    """Return the answer for a claim whose subject is not what was measured, such as the running time of other code."""
    return Abstention("not comparable", reason)


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
        evidence: evidence that the claim's statistic computed.
        margin: the difference that would matter, in the statistic's own unit.
        scale: factor on differences for a reader, such as 100 for points.
        measured_in: unit of differences that are so scaled.
        data: name of the data.
        data_of: function that names the data of a part.
        steps: levels of the tests, those of a single look by default.
        looks: number of looks at the growing data.
        cost: function that returns the core-minutes of one more repetition of some runs.
    """
    if isinstance(evidence, Checks):
        return _of_checks(evidence, data)
    if not isinstance(evidence, Differences):
        return evidence
    if not margin > 0:
        raise ValueError(f"a claim about differences needs a margin above 0, got {margin}")
    samples = list(evidence.parts.values())
    p = p_values_of(samples, margin)
    levels = steps(len(samples))
    word = str(DECIDE[evidence.question](p, levels))
    values = zip(evidence.parts.items(), p.greater.tolist(), p.less.tolist(), p.alike.tolist(), strict=True)
    parts = [
        _part(name, sample, p_of_part, margin, scale, float(levels[-1]), data_of(sample) if data_of else "")
        for (name, sample), *p_of_part in values
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


def _part(
    name: str, sample: Values, p_values: list[float], margin: float, scale: float, level: float, data: str
) -> Part:
    from scipy import stats

    estimate = sample.estimate
    point = float(estimate.point)
    reach = float(stats.t.isf(level, estimate.degrees) * estimate.error) if estimate.degrees > 0 else math.nan
    greater, less, alike = p_values
    answer = "open"
    if alike < level:
        answer = "no difference"
    elif min(greater, less) < level:
        answer = "greater" if greater < less else "smaller"
    return Part(
        name,
        answer,
        effect=scale * point,
        low=scale * (point - reach),
        high=scale * (point + reach),
        margin=scale * margin,
        count=estimate.count,
        extent=sample.extent,
        p=min(greater, less),
        p_alike=alike,
        data=data,
    )


def _decisive_first(parts: list[Part], word: str, question: str) -> list[int]:
    """Sort the parts, those that speak most against the claim first, and return their positions."""
    towards = -1.0 if question in ("greater in some part", "greater in no part") else 1.0

    def place(at: int) -> tuple[bool, float]:
        part, known = parts[at], math.isfinite(parts[at].low)
        if question in ("alike in all parts", "reached in all parts"):
            against = max(abs(part.low), abs(part.high)) if known else math.inf
        else:
            against = -towards * (part.low if known else -math.inf)
        return word == "inconclusive" and part.answer != "open", -against

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
    parts = sorted(
        (_checked(name, check) for name, check in evidence.parts.items()),
        key=lambda part: ("fails", "open", "holds").index(part.answer),
    )
    word = parts[0].answer.replace("open", "inconclusive")
    return Verdict(word, tuple(parts), data=data, notes=evidence.notes)  # type: ignore[arg-type]


def _checked(name: str, check: Check) -> Part:
    has_most = math.isfinite(check.at_most)
    limit = f"at most {check.at_most:.3g}" if has_most else f"at least {check.at_least:.3g}"
    if has_most and math.isfinite(check.at_least):
        limit = f"between {check.at_least:.3g} and {check.at_most:.3g}"
    words = f"{check.what} {check.value:.3g}, {limit} if it is right"
    if check.control_of:
        words += f"; {check.control_of}: {check.control:.3g}"
    answer = "holds" if check.passes else "fails"
    if not check.tells and not math.isnan(check.value):
        answer = "open"
    return Part(name, answer, check.value, margin=check.at_most if has_most else check.at_least, extent=words)
