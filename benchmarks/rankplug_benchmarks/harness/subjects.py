"""Subjects: what can be measured, offered by packages as entry points of the group ``rankplug.benchmarks``.

An entry point names an iterable of subjects. The code behind a subject is named ``"package.module:function"`` and
imported when it is measured, so that a library that is missing hurts only the subjects that need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from rankplug.errors import RankplugError, did_you_mean
from rankplug.registry import import_object
from rankplug.system import threads

if TYPE_CHECKING:
    from rankplug_benchmarks.harness.measurements import Curve, Measurement, Table

GROUP = "rankplug.benchmarks"


@dataclass(frozen=True)
class Effort:
    """Extent of the measurements.

    Args:
        rounds: that are to count.
        quick: tiny sizes, which show that everything runs; their numbers mean nothing.
        peers: whether libraries that are not among our own dependencies are fetched and run too.
    """

    rounds: int = 5
    quick: bool = False
    peers: bool = False

    @property
    def threads(self) -> tuple[int, ...]:
        """One, and all."""
        return tuple(sorted({1, threads()}))

    def size(self, full: int, tiny: int) -> int:
        """Return one of two sizes."""
        return tiny if self.quick else full


@dataclass(frozen=True)
class Subject:
    """Something to measure.

    Args:
        name: of it.
        title: one line.
        implementation: ``"package.module:function"``, which takes an :class:`Effort` and yields what it finds.
        by_default: whether it is among those that are run when none is named.
    """

    name: str
    title: str
    implementation: str
    by_default: bool = True

    def measure(self, effort: Effort) -> Iterable[Measurement | Curve | Table]:
        """Yield the results of the subject as they are found."""
        findings: Iterable[Measurement | Curve | Table] = import_object(self.implementation, str(self))(effort)
        return findings

    def __str__(self) -> str:
        return f"benchmark {self.name}"


def subjects() -> Iterator[Subject]:
    """Yield all subjects that are installed."""
    for point in metadata.entry_points(group=GROUP):
        yield from point.load()


def chosen(names: Iterable[str]) -> list[Subject]:
    """Return the subjects of some names, or those that are run by default."""
    known = {subject.name: subject for subject in subjects()}
    wanted = list(dict.fromkeys(names)) or [name for name, subject in known.items() if subject.by_default]
    for name in wanted:
        if name not in known:
            raise RankplugError(f"there is no benchmark {name}: {did_you_mean(name, known)}")
    return [known[name] for name in wanted]
