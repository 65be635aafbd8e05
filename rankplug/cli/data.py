"""``rankplug data``: what data sets there are, and how to get, prepare and verify them."""

from __future__ import annotations

import typer

from rankplug.registry import registry

app = typer.Typer(help="List, fetch, prepare and verify data sets.", no_args_is_help=True)


@app.command("list")
def list_() -> None:
    """All data sets."""
    for plugin in registry().plugins("dataset"):
        typer.echo(f"{plugin.specification.name:20} {plugin.specification.summary}")
