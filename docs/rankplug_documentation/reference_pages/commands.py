"""The page of every command with its arguments and options, and of the targets of the Makefile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from rankplug.cli import app
from rankplug_documentation.parameter_table import table

TARGET = re.compile(r"^([a-z-]+):.*?## (.*)$", re.MULTILINE)
HEAD = """# Commands

Made by `make docs` from the commands themselves; `rankplug COMMAND --help` prints the same.

"""


def commands(command: Any = None, name: str = "rankplug") -> Iterator[tuple[str, Any]]:
    """Yield every command with its full name, groups before what is in them."""
    command = typer.main.get_command(app) if command is None else command
    yield name, command
    for part, inner in sorted(getattr(command, "commands", {}).items()):
        yield from commands(inner, f"{name} {part}")


def targets(makefile: Path) -> dict[str, str]:
    """Return what each target of a Makefile does."""
    return dict(TARGET.findall(makefile.read_text()))


def commands_page(makefile: Path) -> str:
    """Return the text of the page."""
    sections = [_section(name, command) for name, command in commands()]
    rows = ((f"`make {name}`", f"{meaning[:1].upper()}{meaning[1:]}.") for name, meaning in targets(makefile).items())
    of_make = ["## make", "", "In a checkout; `make` alone lists them.", "", *table(["target", "what it does"], rows)]
    return HEAD + "\n".join([*sections, *of_make])


def _section(name: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if not parameter.opts[0].startswith("-")]
    options = [parameter for parameter in command.params if parameter.opts[0].startswith("-")]
    words = [name, *(["[OPTIONS]"] if options else []), *map(_usage, arguments)]
    words += ["COMMAND ..."] if getattr(command, "commands", None) else []
    level = "##" if name.count(" ") < 2 else "###"
    rows = [
        *(
            (f"`{_metavar(argument)}`", _help(argument), "required" if argument.required else _default(argument))
            for argument in arguments
        ),
        *((", ".join(f"`{word}`" for word in option.opts), _help(option), _default(option)) for option in options),
    ]
    summary = (command.help or "").strip()
    return "\n".join(
        [
            f"{level} {name}",
            "",
            "```text",
            " ".join(words),
            "```",
            "",
            summary,
            "",
            *table(["argument or option", "what it says", "default"], rows),
        ]
    )


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _usage(argument: Any) -> str:
    word = _metavar(argument) + ("..." if argument.nargs == -1 else "")
    return word if argument.required else f"[{word}]"


def _help(parameter: Any) -> str:
    return (parameter.help or "").strip()


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    return "" if value in (None, "", False) or isinstance(value, bool) else f"`{getattr(value, 'value', value)}`"
