"""Output of commands, in which third-party text cannot control the terminal.

A name, a message or a path may hold sequences that clear the screen, change the window's title, write to the clipboard,
or make the end of a line look like its beginning. Everything that a command prints goes through here.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import sys
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""Sequences that only change colours, as tracebacks of notebooks have them; they are left out."""
CONTROL = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of Unicode whose characters control a terminal instead of being shown, and halves of characters."""
NUMBER = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?%?|nan|-?inf")
SHOWN = "\n\t\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
ORDINARY = re.compile(r"[ -~\n\t]*")
INTERRUPTED = 130
"""Exit code of a program that Ctrl-C has ended."""


def escape_control_characters(text: str) -> str:
    r"""Spell out the characters of a text that would control a terminal.

    >>> escape_control_characters("a\x1b]0;title\x07b \x1b[31mred\x1b[0m \u202egnp.exe")
    'a\\x1b]0;title\\x07b red \\u202egnp.exe'
    """
    if ORDINARY.fullmatch(text):
        return text
    return "".join(map(_spelled, COLOURS.sub("", text)))


def _spelled(character: str) -> str:
    if character in SHOWN or unicodedata.category(character) not in CONTROL:
        return character
    return character.encode("unicode_escape").decode()


def echo(text: object, *, colour: str | None = None, bold: bool | None = None, error: bool = False) -> None:
    """Print a line, on the standard error stream if ``error``; in colour only where a terminal shows it and may."""
    import typer

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not (colour or bold)
    line = escape_control_characters(str(text))
    typer.echo(line if plain else typer.style(line, fg=colour, bold=bold), err=error)


def emit(data: Any) -> None:
    """Print data for other programs, as JSON unless it is text; control characters are escaped in a terminal only."""
    import typer

    text = data if isinstance(data, str) else json.dumps(data, indent=1, default=str)
    typer.echo(text if sys.stdout is None or not sys.stdout.isatty() else escape_control_characters(text))


Cell = str | tuple[str, str]
"""A cell of a table: its text, perhaps with a style for terminals, such as ``bold`` or ``red``."""


def echo_table(head: Sequence[str], rows: Iterable[Sequence[Cell]], title: str = "", width: int | None = None) -> None:
    """Print a table: with styles and as wide as the terminal, or as aligned columns into a file or a pipe.

    Args:
        head: names of the columns.
        rows: cells of each row.
        title: line above the table.
        width: largest width in a file or a pipe; unlimited by default.
    """
    import typer

    styled = [[cell if isinstance(cell, tuple) else (cell, "") for cell in row] for row in rows]
    texts = [[escape_control_characters(text).replace("\n", " ") for text, _ in row] for row in styled]
    title = escape_control_characters(title)
    if sys.stdout is None or not sys.stdout.isatty():
        typer.echo("\n".join(filter(None, [title, aligned(head, texts, width)])))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, title=Text(title) if title else None, title_justify="left")
    table.pad_edge = table.show_edge = False
    for name, numeric in zip(head, _numeric(head, texts), strict=True):
        # A number or a name that is broken in two is read wrongly, words are not.
        table.add_column(Text(name), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for row, cells in zip(texts, styled, strict=True):
        table.add_row(*(Text(text, style=style) for text, (_, style) in zip(row, cells, strict=True)))
    Console(highlight=False).print(table)


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Lay out a table with blanks between its columns; those of numbers are aligned at the right.

    Args:
        head: names of the columns.
        rows: cells of each row.
        width: largest width, for which the widest columns are wrapped.

    >>> print(aligned(["loss", "mean"], [["mse", "0.5"], ["xe_ndcg", "0.25"]]))
    loss     mean
    mse       0.5
    xe_ndcg  0.25
    >>> print(aligned(["loss", "summary"], [["mse", "mean squared error"]], width=18))
    loss  summary
    mse   mean squared
          error
    """
    table = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    while width is not None and sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > 10:
        widths[widths.index(max(widths))] -= 1
    sides = [str.rjust if numeric else str.ljust for numeric in _numeric(head, rows)]
    lines = []
    for row in table:
        parts = [
            [cell] if len(cell) <= size else textwrap.wrap(cell, size) for cell, size in zip(row, widths, strict=True)
        ]
        for cells in itertools.zip_longest(*parts, fillvalue=""):
            padded = [side(cell, size) for cell, side, size in zip(cells, sides, widths, strict=True)]
            lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _numeric(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[bool]:
    """Return for each column whether it holds numbers only."""
    columns = [[row[column] for row in rows if row[column]] for column in range(len(head))]
    return [bool(column) and all(NUMBER.fullmatch(cell) for cell in column) for column in columns]


def in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook, and has not only imported what kernels need."""
    kernels = sys.modules.get("ipykernel.kernelapp")
    return kernels is not None and kernels.IPKernelApp.initialized()


def seen_at_once() -> bool:
    """Tell whether the standard error stream is shown at once: in a terminal or a notebook."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


@contextlib.contextmanager
def interruptible(status: Callable[[], str]) -> Iterator[None]:
    """Print after Ctrl-C what is stored, and end as an interrupted program does.

    Args:
        status: returns a clause such as ``3 of 10 trials are stored``.
    """
    try:
        yield
    except KeyboardInterrupt:
        import typer

        echo(f"\ninterrupted: {status()}; the same command goes on", error=True)
        raise typer.Exit(INTERRUPTED) from None


def prepare_warnings() -> None:
    """Print each warning on a line of its own, without its place in the code."""
    warnings.formatwarning = lambda message, *_, **__: f"warning: {escape_control_characters(str(message))}\n"
