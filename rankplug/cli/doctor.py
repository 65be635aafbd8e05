"""``rankplug doctor``: what works on this machine, and what to do about the rest."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("doctor")(doctor)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Tell versions, threads, which backends work, which plugins failed and where things lie; fails on problems."""
    from rankplug.authoring import examine

    found = examine()
    if as_json:
        typer.echo(json.dumps(found.describe(), indent=2))
        raise typer.Exit(1 if found.problems else 0)
    typer.echo("versions")
    for name, version in found.versions.items():
        typer.echo(f"  {name:20} {version}")
    typer.echo(f"threads\n  {found.threads} of {found.cores} cores")
    typer.echo("backends")
    for backend in found.backends:
        typer.echo(f"  {backend.name:20} {'works' if backend.works else backend.reason}")
    if found.others:
        typer.echo("plugins from elsewhere")
    for name, problem in found.others.items():
        typer.echo(f"  {name}: {problem or 'works'}")
    for remark in found.remarks:
        typer.secho(f"remark: {remark}", fg="yellow", err=True)
    typer.echo("folders")
    for folder in found.folders:
        state = ", ".join(
            ["exists" if folder.exists else "not made yet", "writable" if folder.writable else "read-only"]
        )
        typer.echo(f"  {folder.purpose:32} {folder.path} ({state}; {folder.variable})")
    for problem in found.problems:
        typer.secho(f"problem: {problem}", fg="red", err=True)
    if found.problems:
        raise typer.Exit(1)
    typer.echo("no problems")
