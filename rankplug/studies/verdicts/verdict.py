"""Answers to claims as data, and their sentences: a verdict, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Word = Literal["holds", "fails", "no difference", "inconclusive"]
VERDICTS: tuple[Word, ...] = ("holds", "fails", "no difference", "inconclusive")
DECIDED = frozenset(VERDICTS) - {"inconclusive"}


@dataclass(frozen=True)
class Part:
    """One part of a claim: its effect with interval, or the number of an exact check.

    Args:
        name: of the part; empty where there is one.
        answer: ``greater``, ``smaller``, ``no difference`` or ``open``; of a check ``holds``, ``fails`` or ``open``.
        effect: the mean difference, or the check's number.
        low, high: the interval.
        margin: the difference that would matter, or the check's limit.
        count: repetitions.
        extent: over what the mean is taken, in words; of a check, what the number is.
        p: one-sided, of the direction of the effect.
        p_alike: of the two one-sided tests that the difference is within the margin.
        data: what it was tried on.
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

    @property
    def in_margins(self) -> tuple[float, float, float]:
        """Effect, low and high in units of the margin."""
        return self.effect / self.margin, self.low / self.margin, self.high / self.margin


@dataclass(frozen=True)
class Needs:
    """Requirements for deciding an open claim.

    Args:
        smallest: the difference that this design finds with power .8, in the unit of the effect.
        repetitions: how many in all would find a difference of the margin; None where no number would.
        unit: of the repetitions.
        core_minutes: what those beyond the present ones take; None where no time was recorded.
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
        needs: of an inconclusive verdict, what would decide it.
        data: what was tried on, such as ``made data``.
        looks: how often the growing data were looked at.
        notes: what else is to be known.
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
        told = [f"on {self.data}"] if self.data else []
        told += [self._told(part) for part in self.parts]
        if self.looks > 1:
            told.append(f"{self.looks} looks at growing data")
        return told + ([self.needs.sentence] if self.needs else []) + list(self.notes)

    @property
    def sentence(self) -> str:
        """The evidence in words."""
        return "; ".join(self.clauses)

    @property
    def lines(self) -> str:
        """The evidence in HTML's way, a line for each clause."""
        return ";<br>".join(self.clauses)

    def _told(self, part: Part) -> str:
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
        given: dict[str, Any] = {name: value for name, value in described.items() if name != "sentence"}
        needs = given["needs"]
        if needs:
            needs = Needs(**{**needs, "smallest": math.inf if needs["smallest"] is None else needs["smallest"]})
        parts = tuple(map(_read_part, given["parts"]))
        return cls(**{**given, "parts": parts, "needs": needs, "notes": tuple(given["notes"])})


def _read_part(described: Mapping[str, Any]) -> Part:
    values: dict[str, Any] = {name: math.nan if value is None else value for name, value in described.items()}
    return Part(**values)


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

    def describe(self) -> dict[str, str]:
        """Return plain values that JSON knows."""
        return {"verdict": self.verdict, "reason": self.reason}

    @property
    def lines(self) -> str:
        """The same."""
        return self.reason


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
