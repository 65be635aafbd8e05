"""``rankplug verify``: whether a crate or an unpacked archive is what it was when it was made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankplug.system import say


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify")(verify)


def verify(
    folder: Annotated[Path, typer.Argument(help="A crate of rankplug reproduce --crate, or an unpacked archive.")],
) -> None:
    """Compare every file of a crate or an unpacked archive with its digest, and every result with its name."""
    from rankplug.store import verify as problems_of

    count, problems = problems_of(folder)
    for problem in problems:
        say(problem, colour="red")
    if problems:
        raise typer.Exit(1)
    say(f"{count} files are what they were")
