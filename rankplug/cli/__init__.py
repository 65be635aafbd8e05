"""The command line: each command translates its words and calls a function of the library."""

from __future__ import annotations

import sys
import traceback
from importlib import metadata
from typing import Annotated

import typer

from rankplug.cli import (
    check,
    cite,
    claims,
    data,
    lab,
    machine,
    new,
    plugins,
    reproduce,
    results,
    sweep,
    train,
)
from rankplug.cli.completion import complete_names
from rankplug.errors import RankplugError
from rankplug.system import __version__, echo, is_environment_error, missing, prepare_streams

UNUSED = "rfc3987_syntax"
"""Optional package of jsonschema, which validates notebooks: importing it builds parsers of addresses, which takes
more than a second; no schema of notebooks asks for one.
"""

app = typer.Typer(
    name="rankplug",
    help="Learning to rank in which every loss, sampler, scorer and backend is a plugin.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (check, cite, claims, lab, machine, new, plugins, reproduce, sweep, train)
for commands in COMMANDS:
    commands.register(app)
app.add_typer(data.app, name="data")
app.add_typer(results.app, name="results")


def add_commands_of_others() -> None:
    """Add the commands that installed packages offer by entry points in the group ``rankplug.commands``.

    Each names a function that is called with the typer application, such as ``my_package.command:register``.
    """
    for entry in metadata.entry_points(group="rankplug.commands"):
        try:
            entry.load()(app)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            owner = entry.dist.name if entry.dist else "an unknown package"
            reason = f"{type(error).__name__}: {error}"
            echo(f"rankplug: the command {entry.name} of {owner} cannot be used ({reason})", error=True)


add_commands_of_others()


def _tell_version(wanted: bool) -> None:
    if wanted:
        echo(f"rankplug {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """Read the options before the command."""


def main() -> None:
    """Run the command line; an error is one sentence, with ``--debug`` its traceback too."""
    prepare_streams()
    sys.modules.setdefault(UNUSED, None)  # type: ignore[arg-type]
    complete_names(app)
    try:
        app()
    except Exception as error:
        if "--debug" in sys.argv:
            echo(traceback.format_exc(), error=True)
        else:
            echo(f"rankplug: {sentence_of(error)}", colour="red", error=True)
        sys.exit(1)


def sentence_of(error: Exception) -> str:
    """Return the sentence that tells a user about an error; an unforeseen one is said to be a defect.

    >>> sentence_of(PermissionError(13, "Permission denied", "/results"))
    '/results: Permission denied'
    >>> sentence_of(KeyError("x"))
    "unexpected KeyError: 'x'; this is a defect of rankplug or of a plugin, whose place rankplug --debug shows"
    """
    if isinstance(error, RankplugError):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return missing(error.name)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"memory ran out ({error}); take fewer jobs, documents or features"
    if is_environment_error(error):
        return f"{error}; give this program more of what the machine lacks, and run the same command again"
    place = "this is a defect of rankplug or of a plugin, whose place rankplug --debug shows"
    return f"unexpected {type(error).__name__}: {error}; {place}"
