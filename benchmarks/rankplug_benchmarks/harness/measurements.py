"""Results of a subject: numbers beside their targets, and curves.

>>> target = at_most(0.30)
>>> str(target), target.met(0.23), target.met(0.31)
('<= 0.3', True, False)
>>> str(at_least(45)), at_least(45).met(32)
('>= 45', False)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rankplug_benchmarks.harness.rounds import Rounds, Spread

Direction = Literal["at most", "at least"]


@dataclass(frozen=True)
class Target:
    """Target of a number: at most a limit where less is better, at least a limit where more is."""

    limit: float
    direction: Direction

    def met(self, value: float) -> bool:
        """Tell whether a value reaches the target."""
        return value <= self.limit if self.direction == "at most" else value >= self.limit

    def __str__(self) -> str:
        return f"{'<=' if self.direction == 'at most' else '>='} {self.limit:g}"


def at_most(limit: float) -> Target:
    """Return a target below which less is better."""
    return Target(limit, "at most")


def at_least(limit: float) -> Target:
    """Return a target above which more is better."""
    return Target(limit, "at least")


@dataclass(frozen=True)
class Measurement:
    """One number of a table.

    Args:
        what: is measured, such as ``lambdarank gradient over LightGBM's``.
        value: the median.
        low: the lower quartile.
        high: the upper quartile.
        threads: of each contestant.
        unit: of the value; none for a ratio.
        target: what it is to reach.
        rounds: that count.
        discarded: rounds that do not.
        unquiet: whether the machine was so busy that no round could be called calm.
        seconds: the median seconds of each contestant.
        note: what a reader should know of it.
    """

    what: str
    value: float
    low: float
    high: float
    threads: int = 1
    unit: str = ""
    target: Target | None = None
    rounds: int = 1
    discarded: int = 0
    unquiet: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def verdict(self) -> str:
        """``met``, ``falls short``, or nothing where there is no target."""
        if self.target is None:
            return ""
        return "met" if self.target.met(self.value) else "falls short"

    def describe(self) -> dict[str, Any]:
        """Return the measurement as plain values."""
        target = self.target and {"limit": self.target.limit, "direction": self.target.direction}
        return {**vars(self), "seconds": dict(self.seconds), "target": target, "verdict": self.verdict}

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> Measurement:
        """Read a measurement that :meth:`describe` wrote."""
        values = {name: value for name, value in described.items() if name != "verdict"}
        return cls(**{**values, "target": Target(**values["target"]) if values["target"] else None})


@dataclass(frozen=True)
class Curve:
    """A line of a figure and a row of its table.

    Args:
        figure: which lines belong together.
        label: of this one.
        x: name of the horizontal axis.
        y: name of the vertical axis.
        points: from left to right.
        logarithmic: the axes with a logarithmic scale, of ``xy``.
    """

    figure: str
    label: str
    x: str
    y: str
    points: tuple[tuple[float, float], ...]
    logarithmic: str = ""

    def describe(self) -> dict[str, Any]:
        """Return the curve as plain values."""
        return {**vars(self), "points": [list(point) for point in self.points]}

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> Curve:
        """Read a curve that :meth:`describe` wrote."""
        return cls(**{**described, "points": tuple((x, y) for x, y in described["points"])})


def measured(
    what: str,
    rounds: Rounds,
    of_round: Callable[[Mapping[str, float]], float],
    *,
    threads: int,
    target: Target | None = None,
    unit: str = "",
    note: str = "",
) -> Measurement:
    """Make a measurement of a number that each round gives."""
    quantity = rounds.quantity(of_round)
    return Measurement(
        what=what,
        value=quantity.median,
        low=quantity.low,
        high=quantity.high,
        threads=threads,
        unit=unit,
        target=target,
        rounds=len(rounds),
        discarded=rounds.discarded,
        unquiet=rounds.unquiet,
        seconds={name: rounds.spread(name).median for name in rounds.seconds},
        note=note,
    )


def once(
    what: str, value: float, *, threads: int, target: Target | None = None, unit: str = "", note: str = ""
) -> Measurement:
    """Make a measurement of a number that was measured once, such as a memory peak."""
    return Measurement(what, value, value, value, threads, unit, target, note=note)


def repeated(
    what: str, values: list[float], *, threads: int, target: Target | None = None, unit: str = "", note: str = ""
) -> Measurement:
    """Make a measurement of a number that was measured several times."""
    spread = Spread.of(values)
    return Measurement(
        what, spread.median, spread.low, spread.high, threads, unit, target, rounds=len(values), note=note
    )


@dataclass(frozen=True)
class Table:
    """Rows that are no measurements, such as an extrapolation.

    Args:
        name: of it.
        columns: their heads.
        rows: words and numbers.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]

    def describe(self) -> dict[str, Any]:
        """Return the table as plain values."""
        return {"name": self.name, "columns": list(self.columns), "rows": [list(row) for row in self.rows]}

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> Table:
        """Read a table that :meth:`describe` wrote."""
        return cls(described["name"], tuple(described["columns"]), tuple(tuple(row) for row in described["rows"]))
