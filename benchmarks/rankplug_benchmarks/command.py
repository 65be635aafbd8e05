"""``rankplug bench``: speed and memory beside other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankplug.system import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("bench")(bench)


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[SUBJECT]...", help="Subjects to measure; all usual ones by default.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Number of rounds that count.")] = 5,
    quick: Annotated[
        bool, typer.Option("--quick", help="Tiny sizes; shows that all runs, numbers mean nothing.")
    ] = False,
    peers: Annotated[
        bool, typer.Option("--peers", help="Fetch allRank, Rax, lleaves and treelite into the cache and run them too.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the reports; quick ones are written if it is named.")] = Path(
        "benchmarks/results"
    ),
    document: Annotated[
        Path | None, typer.Option(help="Measure nothing; fill the tables of this folder's pages, such as docs.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the subjects and measure nothing.")] = False,
) -> None:
    """Measure beside other libraries, by turns; write one report a subject, or the documentation's tables."""
    from rankplug_benchmarks.harness.subjects import Effort, chosen, subjects

    if listed:
        for subject in subjects():
            say(f"{subject.name:14} {subject.title}{'' if subject.by_default else ' (only if named)'}")
        return
    if document is not None:
        from rankplug_benchmarks.harness.pages import write_pages

        for page in write_pages(out, document):
            say(f"filled {page}")
        return
    from rankplug_benchmarks.harness import reports, wording

    kept = not quick or out != Path("benchmarks/results")
    if kept:
        reports.check_writable(out)
    for subject in chosen(names or []):
        say(f"{subject.name}: {subject.title}", bold=True)
        report = reports.run(subject, Effort(rounds, quick, peers), lambda finding: say(wording.line(finding)))
        say(f"took {report.seconds:.0f} s{f', kept in {report.write(out)}' if kept else ''}")
