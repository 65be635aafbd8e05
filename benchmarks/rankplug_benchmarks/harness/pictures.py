"""Figures of findings: how far each number is from its target, and curves."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rankplug.plotting import PALETTE, new_figure
from rankplug_benchmarks.harness.measurements import Curve, Measurement
from rankplug_benchmarks.harness.reports import Report

LINE_STYLES = ("-", "--", ":", "-.")


def draw_targets(measurements: Iterable[Measurement]) -> Any:
    """Draw every number that has a target as a multiple of it, better to the right; threads in brackets."""
    rows = [measurement for measurement in measurements if measurement.target]
    figure, axes = new_figure(width=7.5, height=0.6 + 0.19 * len(rows))
    for index, one in enumerate(rows):
        margins = sorted(_margin(one, value) for value in (one.low, one.value, one.high))
        colour = PALETTE[2] if one.verdict == "met" else PALETTE[3]
        axes.plot([margins[0], margins[-1]], [index, index], color=colour, linewidth=2, alpha=0.5)
        axes.plot([margins[1]], [index], "o" if one.verdict == "met" else "X", color=colour, markersize=5)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [f"{row.what} ({row.threads})" for row in rows], fontsize=6)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("times as good as its target asks for, with quartiles")
    return figure


def _margin(measurement: Measurement, value: float) -> float:
    assert measurement.target is not None
    share = max(value, 1e-9) / measurement.target.limit
    return min(max(1 / share if measurement.target.direction == "at most" else share, 0.1), 100.0)


def draw_curves(curves: Sequence[Curve]) -> Any:
    """Draw the lines of one figure."""
    figure, axes = new_figure(width=6.4, height=4.0)
    for number, curve in enumerate(curves):
        style = LINE_STYLES[number // len(PALETTE) % len(LINE_STYLES)]
        marker = "o" if len(curve.points) <= 12 else None
        axes.plot(
            *zip(*curve.points, strict=True),
            label=curve.label,
            color=PALETTE[number % len(PALETTE)],
            linestyle=style,
            marker=marker,
            markersize=3,
            linewidth=1.3,
        )
    first = curves[0]
    axes.set_xlabel(first.x)
    axes.set_ylabel(first.y)
    if "x" in first.logarithmic:
        axes.set_xscale("log")
    if "y" in first.logarithmic:
        axes.set_yscale("log")
    columns = math.ceil(len(curves) / 24)
    figure.legend(loc="outside right upper", ncols=columns, fontsize=7)
    return figure


def picture_path(folder: Path, subject: str, figure: str) -> Path:
    """Return the path of a subject's figure."""
    words = re.sub(r"[^a-z0-9]+", "-", f"{subject} {figure}".lower()).strip("-")
    return folder / f"bench-{words}.png"


def write_pictures(reports: Iterable[Report], folder: Path) -> list[Path]:
    """Write the figure of all targets and every figure of curves."""
    import matplotlib.pyplot as plt

    every = list(reports)
    drawn = {
        picture_path(folder, "all", "targets"): draw_targets(
            [measurement for r in every for measurement in r.measurements]
        )
    }
    for report in every:
        for name in report.figures:
            drawn[picture_path(folder, report.subject, name)] = draw_curves(report.curves_of(name))
    folder.mkdir(parents=True, exist_ok=True)
    for path, figure in drawn.items():
        figure.savefig(path, dpi=130, metadata={"Software": None})
        plt.close(figure)
    return list(drawn)
