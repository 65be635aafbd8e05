"""Interleaved timing: in each round every contestant runs once, and ratios are taken within a round.

What slows the machine down slows all contestants of a round. A round in which the last contestant (the peer) strays
more than a quarter from its median is discarded and repeated, up to twice the number of rounds requested.

>>> timings = Timings({"ours": [1.0, 1.1, 1.0], "peer": [2.0, 2.2, 9.0]}).without_outliers()
>>> len(timings), timings.ratio("ours", "peer")[1]
(2, 0.5)
"""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

OUTLIER = 0.25
SECONDS_PER_ROUND = 0.02
MOST_CALLS = 50

Contestant = Callable[[], object]
Quartiles = tuple[float, float, float]


@dataclass(frozen=True)
class Timings:
    """Seconds of each contestant in each round; the last contestant decides which rounds count."""

    seconds: Mapping[str, list[float]]

    def __len__(self) -> int:
        return len(next(iter(self.seconds.values())))

    def without_outliers(self) -> Timings:
        """Return the rounds in which the peer was within a quarter of its median; all if fewer than half remain."""
        peer = list(self.seconds.values())[-1]
        middle = statistics.median(peer)
        calm = [number for number, seconds in enumerate(peer) if abs(seconds - middle) <= OUTLIER * middle]
        if 2 * len(calm) < len(peer):
            return self
        return Timings({name: [times[number] for number in calm] for name, times in self.seconds.items()})

    def ratio(self, numerator: str, denominator: str) -> Quartiles:
        """Return lower quartile, median and upper quartile of the ratio within rounds."""
        pairs = zip(self.seconds[numerator], self.seconds[denominator], strict=True)
        low, median, high = np.quantile([above / below for above, below in pairs], (0.25, 0.5, 0.75))
        return float(low), float(median), float(high)


class SelfTimed:
    """A contestant that returns the seconds it took."""

    def __init__(self, run: Callable[[], float]) -> None:
        self.run = run


def interleave(contestants: Mapping[str, Contestant | SelfTimed], rounds: int, warm_up: int = 1) -> Timings:
    """Time contestants in alternating order.

    Args:
        contestants: name -> call; the last one decides which rounds count.
        rounds: number of rounds that must remain.
        warm_up: number of rounds before the first that is timed.
    """
    calls = {}
    for name, run in contestants.items():
        seconds = [_seconds(run, 1) for _ in range(max(warm_up, 1))][-1]
        calls[name] = max(1, min(MOST_CALLS, int(SECONDS_PER_ROUND / max(seconds, 1e-9))))
    seconds_of: dict[str, list[float]] = {name: [] for name in contestants}
    order = list(contestants.items())
    timings = Timings(seconds_of)
    for number in range(2 * rounds):
        for name, run in order if number % 2 else reversed(order):
            seconds_of[name].append(_seconds(run, calls[name]))
        timings = Timings(seconds_of).without_outliers()
        if len(timings) >= rounds and len(seconds_of[order[0][0]]) >= rounds:
            break
    return timings


def _seconds(run: Contestant | SelfTimed, calls: int) -> float:
    if isinstance(run, SelfTimed):
        return run.run()
    begin = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - begin) / calls


@dataclass(frozen=True)
class Row:
    """One row of a table of results.

    Args:
        what: the comparison, such as ``LightGBM iteration, xe_ndcg over native``.
        value: median ratio, or a value with a unit.
        low: lower quartile.
        high: upper quartile.
        threads: number of threads of each contestant.
        unit: unit of the value; empty for a ratio.
        at_most: target if less is better.
        at_least: target if more is better.
        headline: whether the documentation shows the row.
    """

    what: str
    value: float
    low: float
    high: float
    threads: int = 1
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    headline: bool = False

    @property
    def target(self) -> str:
        """The target with its verdict; empty without a target."""
        if self.at_most is not None:
            return f"<= {self.at_most:g}: {'met' if self.value <= self.at_most else 'missed'}"
        if self.at_least is not None:
            return f">= {self.at_least:g}: {'met' if self.value >= self.at_least else 'missed'}"
        return ""

    def cells(self) -> tuple[str, str, str, str, str]:
        """Return comparison, threads, value, quartiles and target as text."""
        unit = f" {self.unit}" if self.unit else ""
        return (
            self.what,
            str(self.threads),
            f"{self.value:.3g}{unit}",
            f"{self.low:.3g} to {self.high:.3g}",
            self.target,
        )


def ratio_row(what: str, timings: Timings, numerator: str, denominator: str, **options: object) -> Row:
    """Return the row of a ratio of two contestants."""
    low, median, high = timings.ratio(numerator, denominator)
    return Row(what, median, low, high, **options)  # type: ignore[arg-type]


def value_row(what: str, values: Iterable[float], **options: object) -> Row:
    """Return the row of a value that was measured one or several times."""
    low, median, high = np.quantile(list(values), (0.25, 0.5, 0.75))
    return Row(what, float(median), float(low), float(high), **options)  # type: ignore[arg-type]


def write_report(path: Path, rows: Iterable[Row]) -> None:
    """Write the rows of a subject with machine and date."""
    path.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "measured": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
        "rows": [asdict(row) for row in rows],
    }
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


BEGIN, END = "<!-- benchmark rows -->", "<!-- /benchmark rows -->"


def fill_page(page: Path, results: Path) -> None:
    """Replace the table between the two comments of a page by the headline rows of all reports."""
    lines = ["| what | threads | measured | quartiles | target |", "| --- | --- | --- | --- | --- |"]
    dates = set()
    for path in sorted(results.glob("*.json")):
        report = json.loads(path.read_text(encoding="utf-8"))
        rows = [row for row in (Row(**row) for row in report["rows"]) if row.headline]
        dates.update([report["measured"]] if rows else [])
        lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    table = "\n".join([*lines, "", f"Measured {' to '.join(sorted({min(dates), max(dates)}))}."])
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")
