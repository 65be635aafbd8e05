"""``rankplug report``: the report of what has been run already."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankplug.system import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(report)


def report(
    names: Annotated[list[str] | None, typer.Argument(help="Studies; all whose runs are there by default.")] = None,
    profile: Annotated[str, typer.Option(help="Size of the runs: smoke, quick, full, real, paper.")] = "quick",
    data: Annotated[str | None, typer.Option(help="A data set in place of the profile's own.")] = None,
    store: Annotated[Path | None, typer.Option(help="Folder of results.")] = None,
    report: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("report"),
) -> None:
    """Write the report of studies whose runs are all in the store; runs none."""
    from rankplug.report import reproduce
    from rankplug.store import Store
    from rankplug.studies import read_profile

    page = reproduce(
        names or ["all"],
        profile=read_profile(profile),
        data=data,
        store=Store(store) if store else None,
        report=report,
        run_missing=False,
    )
    say(f"The report is at {page.resolve()}")
