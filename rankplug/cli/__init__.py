"""The command line: each command translates its words and calls a function of the library."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rankplug.cli import bench, data, doctor, plugins, reproduce, results, sweep, train
from rankplug.errors import RankplugError

app = typer.Typer(
    name="rankplug",
    help="Learning to rank in which every loss, sampler, scorer and backend is a plugin.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for commands in (bench, doctor, plugins, reproduce, sweep, train):
    commands.register(app)
app.add_typer(data.app, name="data")
app.add_typer(results.app, name="results")


@app.callback()
def options(debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False) -> None:
    """Options before the command."""


def main() -> None:
    """Runs the command line; an error of ours is one sentence, with ``--debug`` its traceback too."""
    try:
        app()
    except RankplugError as error:
        if "--debug" in sys.argv:
            raise
        typer.secho(f"rankplug: {error}", fg="red", err=True)
        sys.exit(1)
