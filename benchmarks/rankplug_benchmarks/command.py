"""``rankplug bench``: speed and memory beside other libraries."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankplug.system import hand_over, say, say_table

if TYPE_CHECKING:
    from rankplug_benchmarks.harness.subjects import Subject


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
        bool,
        typer.Option("--peers", help="Fetch allRank, Rax, lleaves, YDF and others into the cache; run them too."),
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the reports; quick ones are written if it is named.")] = Path(
        "benchmarks/results"
    ),
    document: Annotated[
        Path | None, typer.Option(help="Measure nothing; fill the tables of this folder's pages, such as docs.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List all subjects, and measure nothing.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be measured, and how long it took before.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --list or --dry-run, print JSON.")] = False,
) -> None:
    """Measure beside other libraries, by turns; write one report a subject, or the documentation's tables."""
    from rankplug_benchmarks.harness.subjects import Effort, chosen, subjects

    if as_json and not (listed or dry_run):
        raise typer.BadParameter("--json prints what --list or --dry-run tell; what is measured is in the reports")
    if listed or dry_run:
        _tell(subjects() if listed else chosen(names or []), None if listed else out, as_json)
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


def _tell(subjects: Iterable[Subject], out: Path | None, as_json: bool) -> None:
    """Print subjects, and the seconds of their reports in a folder, where there are some."""
    from rankplug_benchmarks.harness import reports

    listed = list(subjects)
    paths = {subject.name: out / f"{subject.name}.json" for subject in listed} if out else {}
    took = {name: reports.read(path).seconds for name, path in paths.items() if path.exists()}
    if as_json:
        told = [{"subject": one.name, "title": one.title, "by_default": one.by_default, "seconds": took.get(one.name)}
                for one in listed]  # fmt: skip
        hand_over(json.dumps(told, indent=1))
        return
    rows = [(one.name, f"{took[one.name]:.0f}" if one.name in took else "", "" if one.by_default else "if named",
             one.title) for one in listed]  # fmt: skip
    say_table(("subject", "seconds", "measured", "what it is"), rows)
