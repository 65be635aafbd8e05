"""``rankplug cite``: BibTeX of the papers that studies run again, and of rankplug."""

from __future__ import annotations

from typing import Annotated

import typer

from rankplug.system import emit


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("cite")(cite)


def cite(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STUDY]...", help="Studies, or all; rankplug itself where none is named."),
    ] = None,
) -> None:
    """Print BibTeX of the papers that studies run again, or of rankplug."""
    from rankplug.studies import bibliography

    emit(bibliography(names or []))
