"""Findings as lines of a terminal and as tables of a page; both show the same words.

>>> in_words(0.2345), in_words(123456.0), in_words(7.0), in_words(0.00012)
('0.23', '123,456', '7', '0.00012')
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rankplug.store import markdown_table
from rankplug_benchmarks.harness.measurements import Curve, Measurement, Table
from rankplug_benchmarks.harness.reports import Finding, Report

TARGET_COLUMNS = ("what", "threads", "measured", "quartiles", "target", "verdict", "rounds")
OTHER_COLUMNS = ("what", "threads", "measured", "quartiles", "rounds")
LARGEST_TABLE_OF_POINTS = 8
EVERY_ROW_HAS_A_TARGET = "All that was measured here has a target, and stands in the table of [targets](#targets)."


def in_words(value: float, digits: int = 2) -> str:
    """Format a number with a few significant digits."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    if abs(rounded) >= 100:
        return f"{value:,.0f}"
    text = f"{rounded:.{max(decimals, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def line(finding: Finding) -> str:
    """Format a finding as a line of the terminal."""
    if isinstance(finding, Measurement):
        words = [f"{finding.what} ({_threads(finding)}):", value_of(finding)]
        if finding.rounds > 1:
            words.append(f"[{quartiles_of(finding)}]")
        if finding.target:
            words.append(f"target {finding.target}: {finding.verdict}")
        if finding.note:
            words.append(f"- {finding.note}")
        return " ".join(words)
    if isinstance(finding, Curve):
        points = ", ".join(f"{in_words(x)}: {in_words(y, 3)}" for x, y in _some(finding.points))
        return f"{finding.figure}, {finding.label}, {finding.y} by {finding.x}: {points}"
    return markdown(finding.columns, finding.rows)


def value_of(measurement: Measurement) -> str:
    """Format the median with its unit."""
    return f"{in_words(measurement.value, 3)} {measurement.unit}".strip()


def quartiles_of(measurement: Measurement) -> str:
    """Format the quartiles; empty for what was measured once."""
    return f"{in_words(measurement.low, 3)} to {in_words(measurement.high, 3)}" if measurement.rounds > 1 else ""


def rounds_of(measurement: Measurement) -> str:
    """Format how many rounds counted, and how many were discarded."""
    if measurement.unquiet:
        return f"{measurement.rounds}, none calm"
    return (
        f"{measurement.rounds}, {measurement.discarded} discarded" if measurement.discarded else str(measurement.rounds)
    )


def targets_table(measurements: Iterable[Measurement]) -> str:
    """Format a table of target, measured value, and whether it was met."""
    rows = [
        (
            _with_note(measurement),
            measurement.threads,
            value_of(measurement) if measurement.verdict == "met" else f"**{value_of(measurement)}**",
            quartiles_of(measurement),
            str(measurement.target),
            measurement.verdict,
            rounds_of(measurement),
        )
        for measurement in measurements
    ]
    return markdown(TARGET_COLUMNS, rows)


def others_table(measurements: Iterable[Measurement]) -> str:
    """Return a table of what has no target, or a sentence that everything has one."""
    rows = [
        (
            _with_note(measurement),
            measurement.threads,
            value_of(measurement),
            quartiles_of(measurement),
            rounds_of(measurement),
        )
        for measurement in measurements
    ]
    return markdown(OTHER_COLUMNS, rows) if rows else EVERY_ROW_HAS_A_TARGET


def curves_table(curves: Sequence[Curve]) -> str:
    """Return a table with a row for each curve, and a column for each place where all or most of them have a point."""
    places = sorted({x for curve in curves for x, _ in _some(curve.points)})
    rows = []
    for curve in curves:
        values = dict(curve.points)
        rows.append((curve.label, *(in_words(values[x], 3) if x in values else "" for x in places)))
    return markdown((f"{curves[0].y} by {curves[0].x}", *(in_words(x, 3) for x in places)), rows)


def table(finding: Table) -> str:
    """Format a table in Markdown."""
    return markdown(finding.columns, finding.rows)


def machine_sentence(reports: Iterable[Report]) -> str:
    """Return a sentence that says on which machine, when and how long was measured."""
    every = list(reports)
    machine = every[0].machine
    dates = sorted(report.date[:10] for report in every)
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    versions = ", ".join(
        f"{name} {machine['versions'][name]}" for name in ("python", *COMPARED_WITH) if name in machine["versions"]
    )
    minutes = sum(report.seconds for report in every) / 60
    return (
        f"Measured {when} on {machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB,"
        f" {machine['system']}; {versions}. All subjects together took {minutes:.0f} minutes."
    )


def subjects_table(reports: Iterable[Report]) -> str:
    """Return a table of what was measured, when, how long it took, and the load of the machine before."""
    columns = ("subject", "what", "measured", "took", "load before")
    rows = [
        (report.subject, report.title, report.date, f"{report.seconds:.0f} s", report.machine["load"])
        for report in reports
    ]
    return markdown(columns, rows)


COMPARED_WITH = ("numpy", "torch", "lightgbm", "xgboost", "catboost", "scikit-learn", "ranx", "pytrec-eval-terrier")


def markdown(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format rows as a table in Markdown."""
    cells = ([in_words(cell, 3) if isinstance(cell, float) else cell for cell in row] for row in rows)
    return markdown_table(columns, cells)


def _with_note(measurement: Measurement) -> str:
    return f"{measurement.what} ({measurement.note})" if measurement.note else measurement.what


def _threads(measurement: Measurement) -> str:
    return "1 thread" if measurement.threads == 1 else f"{measurement.threads} threads"


def _some(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return evenly chosen points of many, the first and the last among them."""
    if len(points) <= LARGEST_TABLE_OF_POINTS:
        return list(points)
    step = (len(points) - 1) / (LARGEST_TABLE_OF_POINTS - 1)
    return [points[round(step * number)] for number in range(LARGEST_TABLE_OF_POINTS)]
