"""``rankplug new``: begins a package with one working plugin."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rankplug.system import echo


class Flavour(StrEnum):
    """Language in which a loss is written."""

    NUMBA = "numba"
    TORCH = "torch"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("new")(new)


def new(
    kind: Annotated[
        str, typer.Argument(help="Kind of plugin: loss, sampler, scorer, backend, dataset, transform, metric or study.")
    ],
    name: Annotated[str, typer.Argument(help="Name of the plugin, such as my_loss.")],
    flavour: Annotated[
        Flavour,
        typer.Option(help="How to write a loss: numba for a compiled function of one list, torch for an expression."),
    ] = Flavour.NUMBA,
    into: Annotated[Path, typer.Option(help="Folder in which the package's folder is made.")] = Path(),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the files, and write none.")] = False,
) -> None:
    """Write a small package with one working plugin, its contract test and a README."""
    from rankplug.authoring import NewPlugin

    plugin = NewPlugin(kind, name, flavour.value)
    if dry_run:
        for path in sorted(plugin.files()):
            echo(f"would write {into / name / path}")
        return
    folder = plugin.write(into)
    echo(f"wrote {folder}; now:")
    echo(f"  pip install -e {folder}")
    echo(f"  rankplug check {name}")
    echo(f"  {plugin.facts['run']}")
