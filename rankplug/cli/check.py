"""``rankplug check``: whether a plugin keeps the contract of its kind."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rankplug.system import echo, emit


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check")(check)


def check(
    plugin: Annotated[
        str,
        typer.Argument(metavar="NAME|PATH", help="An installed plugin, such as my_loss, or a file such as loss.py."),
    ],
    kind: Annotated[str | None, typer.Option(help="Kind of the plugin, where several have the name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run the contract of its kind on a plugin: what fails, on which input, what it means, how to fix it."""
    from rankplug.authoring import check_plugins

    reports = check_plugins(plugin, kind)
    if as_json:
        emit(json.dumps([report.describe() for report in reports], indent=2))
    else:
        for report in reports:
            for line in report.lines():
                echo(line, colour="red" if line.startswith("  FAIL") else None)
    if any(report.failed for report in reports):
        raise typer.Exit(1)
