"""The command line: each command translates its words and calls a function of the library."""

from __future__ import annotations

import sys
import traceback
from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from rankplug.cli import authors, data, machine, papers, results, sweep, train
from rankplug.errors import RankplugError
from rankplug.system import __version__, echo, is_environment_error, missing, prepare_warnings

COMMANDS: dict[str, tuple[Any, ...]] = {
    "Training and comparing": (train.train, train.evaluate, train.predict, sweep.sweep, results.app),
    "Papers": (papers.reproduce, papers.report, papers.claims, papers.scoreboard, papers.cite),
    "Data": (data.app,),
    "Plugins and their authors": (authors.plugins, authors.new, authors.check),
    "Maintenance": (machine.doctor, machine.warm, machine.lab, papers.verify),
}
"""Title of a group of commands -> its commands; installed packages may add to a group or bring their own."""
UNUSED = "rfc3987_syntax"
"""Optional package of jsonschema, which validates notebooks: importing it builds parsers of addresses, which takes
more than a second; no schema of notebooks asks for one.
"""


class GroupedCommands(TyperGroup):
    """Commands that help lists in groups, in alphabetical order and with their whole summaries."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the groups."""
        groups: dict[str, list[tuple[str, str]]] = {title: [] for title in COMMANDS}
        for name, command in sorted(self.commands.items()):
            title = getattr(command, "rich_help_panel", None)
            rows = groups.setdefault(title if isinstance(title, str) else "Commands", [])
            rows.append((name, command.get_short_help_str(limit=1000)))
        for title, rows in groups.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


app = typer.Typer(
    name="rankplug",
    cls=GroupedCommands,
    help="Learning to rank in which every loss, sampler, scorer and backend is a plugin.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for title, commands in COMMANDS.items():
    for command in commands:
        if isinstance(command, typer.Typer):
            app.add_typer(command, cls=GroupedCommands, rich_help_panel=title)
        else:
            app.command(rich_help_panel=title)(command)


def add_third_party_commands() -> None:
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
            echo(f"rankplug: cannot load the command {entry.name} of {owner} ({reason})", error=True)


add_third_party_commands()


def _print_version(requested: bool) -> None:
    if requested:
        echo(f"rankplug {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Read the options before the command."""


def main() -> None:
    """Run the command line; an error is one sentence, with ``--debug`` its traceback."""
    prepare_warnings()
    sys.modules.setdefault(UNUSED, None)  # type: ignore[arg-type]
    try:
        app()
    except Exception as error:
        if "--debug" in sys.argv:
            echo(traceback.format_exc(), error=True)
        else:
            echo(f"rankplug: {sentence_of(error)}", colour="red", error=True)
        sys.exit(1)


def sentence_of(error: Exception) -> str:
    """Return the sentence that explains an error to a user; an unforeseen one is a bug.

    >>> sentence_of(PermissionError(13, "Permission denied", "/results"))
    '/results: Permission denied'
    >>> sentence_of(KeyError("x"))
    "unexpected KeyError: 'x'; this is a bug in rankplug or a plugin, rerun with --debug for a traceback"
    """
    if isinstance(error, RankplugError):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return missing(error.name)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"out of memory ({error}); use fewer jobs, documents or features"
    if is_environment_error(error):
        return f"{error}; free what the machine lacks, and run the same command again"
    bug = "this is a bug in rankplug or a plugin, rerun with --debug for a traceback"
    return f"unexpected {type(error).__name__}: {error}; {bug}"
