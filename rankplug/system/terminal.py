"""Output on a terminal, where text from elsewhere is shown and never steers the screen.

A name, a message or a path may hold sequences that clear the screen, change the window's title, write to the clipboard,
or make the end of a line look like its beginning. Everything that a command says goes through here.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
import warnings
from typing import Any

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""Sequences that change colours only, as tracebacks of notebooks have them; they are left out."""
STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of Unicode whose characters are not shown but obeyed, and halves of characters."""
SHOWN = "\n\t\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
ORDINARY = re.compile(r"[ -~\n\t]*")


def harmless(text: str) -> str:
    r"""Spell out the characters of a text that a terminal would obey.

    >>> harmless("a\x1b]0;title\x07b \x1b[31mred\x1b[0m \u202egnp.exe")
    'a\\x1b]0;title\\x07b red \\u202egnp.exe'
    """
    if ORDINARY.fullmatch(text):
        return text
    return "".join(map(_spelled, COLOURS.sub("", text)))


def _spelled(character: str) -> str:
    if character in SHOWN or unicodedata.category(character) not in STEERING:
        return character
    return character.encode("unicode_escape").decode()


def say(text: object, *, colour: str | None = None, bold: bool | None = None, error: bool = False) -> None:
    """Print a line, on the standard error stream if ``error``."""
    import typer

    typer.secho(harmless(str(text)), fg=colour, bold=bold, err=error)


def hand_over(text: str) -> None:
    """Print data for other programs: unchanged into a file or a pipe, made harmless in a terminal."""
    import typer

    typer.echo(text if sys.stdout is None or not sys.stdout.isatty() else harmless(text))


def in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook."""
    return "ipykernel" in sys.modules


def seen_at_once() -> bool:
    """Tell whether the standard error stream is shown at once: in a terminal or a notebook."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def prepare_streams() -> None:
    """Give a process without standard streams empty ones, and print each warning on a line of its own.

    Without them, the next file that is opened, which may be a result, takes the place of a stream, and whatever is
    printed goes into it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    warnings.formatwarning = _warning_line


def _warning_line(message: Warning | str, *place: Any, **more: Any) -> str:
    return f"warning: {harmless(str(message))}\n"
