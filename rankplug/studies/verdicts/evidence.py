"""Evidence that a claim's statistic gives to the rules: differences with chance, exact checks, or why there is none.

>>> Check("largest error", 1e-13, at_most=1e-9, control=0.2).passes
True
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rankplug.studies.verdicts.samples import Values
from rankplug.studies.verdicts.verdict import Abstention

Question = Literal[
    "greater in all parts", "alike in all parts", "greater in some part", "greater in no part", "reached in all parts"
]


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences of the parts of a claim, and what the claim says of them.

    Args:
        parts: name -> sample; one part may have an empty name.
        question: what the claim says.
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
        value: what was found.
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

    def _within(self, value: float) -> bool:
        return self.at_least <= value <= self.at_most

    @property
    def passes(self) -> bool:
        """Tell whether the value is on the side of the claim."""
        return self._within(self.value)

    @property
    def tells(self) -> bool:
        """Tell whether the control falls on the other side."""
        return self._within(self.control) != self.passes


@dataclass(frozen=True, eq=False)
class Checks:
    """Exact checks of the parts of a claim."""

    parts: Mapping[str, Check]
    notes: tuple[str, ...] = ()


Evidence = Differences | Checks | Abstention


def exact_check(
    what: str,
    value: float,
    *,
    at_most: float = math.inf,
    at_least: float = -math.inf,
    control: float = math.nan,
    control_of: str = "",
) -> Checks:
    """Make evidence of one exact check, see :class:`Check`."""
    return Checks({"": Check(what, value, at_most, at_least, control, control_of)})


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


def not_to_the_end() -> Abstention:
    """Return the answer for a claim about whole curves some of which early stopping cut short."""
    return not_run("not run to the end: early stopping ended trainings before their curves could be compared")


def not_comparable(reason: str) -> Abstention:
    """Return the answer for a claim whose subject is not what was measured, such as the running time of other code."""
    return Abstention("not comparable", reason)
