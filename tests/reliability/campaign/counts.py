"""Counts of a campaign's cases: printed, and written into the page that promises what they show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Line = Mapping[str, Any]
BEGIN, END = "<!-- campaign -->\n", "<!-- end of campaign -->\n"
COUNTED: dict[str, Callable[[Line], bool]] = {
    "kills": lambda line: "killed" in line,
    "before the end": lambda line: bool(line.get("killed")),
    "failing writes": lambda line: "failing" in line,
    "shared stores": lambda line: "codes" in line,
}


def quarters(lines: Sequence[Line]) -> str:
    """Count the kills in each quarter of the work that their commands do; of earlier kills that is not known."""
    shares = [line["share"] for line in lines if line.get("killed") and "share" in line]
    return (
        " ".join(str(sum(min(int(4 * share), 3) == quarter for share in shares)) for quarter in range(4))
        if shares
        else ""
    )


def is_good(line: Line) -> bool:
    """Tell whether a case ended as it should."""
    trouble = ("unforeseen", "reading", "orphans", "litter")
    return bool(line["equal"] and line.get("complete", True)) and not any(line.get(name) for name in trouble)


def table(lines: Sequence[Line]) -> str:
    """Count the cases of a log, command by command, as a table in Markdown."""
    tried = [line for line in lines if not line.get("room")]
    names = sorted({line["command"] for line in tried})
    rows = [["command", *COUNTED, "in each quarter", "as undisturbed", "seconds of processor time"]]
    rows.append(["---", *["--:"] * (len(rows[0]) - 1)])
    for name in (*names, None):
        chosen = [line for line in tried if name in (None, line["command"])]
        counts = [sum(map(counted, chosen)) for counted in COUNTED.values()]
        seconds = sum(line.get("seconds", 0.0) for line in chosen) / max(len(chosen), 1)
        good = f"{sum(map(is_good, chosen))} of {len(chosen)}"
        rows.append([f"`{name}`" if name else "all", *map(str, counts), quarters(chosen), good, f"{seconds:.1f}"])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def write_into(page: Path, lines: Sequence[Line]) -> None:
    """Put the table into a page, between two marks."""
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    assert rest and after, f"{page} has no place for the counts"
    page.write_text(f"{before}{BEGIN}\n{table(lines)}\n{END}{after}")
