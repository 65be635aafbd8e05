"""Report of a run of a subject, kept as one JSON file a subject."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankplug.errors import RankplugError
from rankplug_benchmarks.harness.machine import describe_machine
from rankplug_benchmarks.harness.measurements import Curve, Measurement, Table
from rankplug_benchmarks.harness.subjects import Effort, Subject

Finding = Measurement | Curve | Table


def check_writable(folder: Path) -> None:
    """Raise an error before anything is measured if the reports could not be kept."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RankplugError(
            f"cannot write reports to {folder}: {error.strerror}; name another folder with --out"
        ) from error


@dataclass(frozen=True)
class Report:
    """Report of a subject's run.

    Args:
        subject: its name.
        title: its title.
        date: of the run.
        seconds: it took.
        quick: whether sizes were tiny, so that numbers mean nothing.
        machine: see :func:`rankplug_benchmarks.harness.machine.describe_machine`.
        measurements: numbers, most of them beside a target.
        curves: lines of figures.
        tables: anything else.
    """

    subject: str
    title: str
    date: str
    seconds: float
    quick: bool
    machine: dict[str, Any]
    measurements: tuple[Measurement, ...] = ()
    curves: tuple[Curve, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def figures(self) -> list[str]:
        """Names of the figures its curves make."""
        return list(dict.fromkeys(curve.figure for curve in self.curves))

    def curves_of(self, figure: str) -> list[Curve]:
        """Return the lines of a figure."""
        return [curve for curve in self.curves if curve.figure == figure]

    def write(self, folder: Path) -> Path:
        """Write the report to ``<subject>.json`` in a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.subject}.json"
        parts = {name: [one.describe() for one in getattr(self, name)] for name in PARTS}
        path.write_text(json.dumps({**vars(self), **parts}, indent=1) + "\n")
        return path


PARTS: dict[str, type[Finding]] = {"measurements": Measurement, "curves": Curve, "tables": Table}


def run(subject: Subject, effort: Effort, found: Callable[[Finding], object] = lambda finding: None) -> Report:
    """Measure a subject.

    Args:
        subject: what is measured.
        effort: how much of it.
        found: told of each finding as it comes.
    """
    machine, begin = describe_machine(), time.perf_counter()
    date = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    findings: list[Finding] = []
    for finding in subject.measure(effort):
        findings.append(finding)
        found(finding)
    kinds: dict[str, Any] = {
        name: tuple(finding for finding in findings if isinstance(finding, kind)) for name, kind in PARTS.items()
    }
    seconds = round(time.perf_counter() - begin, 1)
    return Report(subject.name, subject.title, date, seconds, effort.quick, machine, **kinds)


def read(path: Path) -> Report:
    """Read a report that :meth:`Report.write` wrote."""
    try:
        described = json.loads(path.read_text())
        kinds: dict[str, Any] = {
            name: tuple(kind.read(one) for one in described.pop(name)) for name, kind in PARTS.items()
        }
        return Report(**described, **kinds)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RankplugError(
            f"{path} is no report of rankplug bench ({error}); run rankplug bench {path.stem}"
        ) from error


def read_all(folder: Path) -> dict[str, Report]:
    """Return all reports in a folder by their subjects."""
    reports = [read(path) for path in sorted(folder.glob("*.json"))]
    if not reports:
        raise RankplugError(f"{folder} holds no report; write them with rankplug bench --out {folder}")
    return {report.subject: report for report in reports}
