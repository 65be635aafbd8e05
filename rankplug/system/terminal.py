"""Output on a terminal, where third-party text is shown and never steers the screen.

A name, a message or a path may hold sequences that clear the screen, change the window's title, write to the clipboard,
or make the end of a line look like its beginning. Everything that a command says goes through here.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""Sequences that change colours only, as tracebacks of notebooks have them; they are left out."""
STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of Unicode whose characters are not shown but obeyed, and halves of characters."""
NUMBER = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?%?|nan|-?inf")
SHOWN = "\n\t\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
ORDINARY = re.compile(r"[ -~\n\t]*")
INTERRUPTED = 130
"""Exit code of a program that Ctrl-C has ended."""


def escape_control_characters(text: str) -> str:
    r"""Spell out the characters of a text that a terminal would obey.

    >>> escape_control_characters("a\x1b]0;title\x07b \x1b[31mred\x1b[0m \u202egnp.exe")
    'a\\x1b]0;title\\x07b red \\u202egnp.exe'
    """
    if ORDINARY.fullmatch(text):
        return text
    return "".join(map(_spelled, COLOURS.sub("", text)))


def _spelled(character: str) -> str:
    if character in SHOWN or unicodedata.category(character) not in STEERING:
        return character
    return character.encode("unicode_escape").decode()


def echo(text: object, *, colour: str | None = None, bold: bool | None = None, error: bool = False) -> None:
    """Print a line, on the standard error stream if ``error``; in colour only where a terminal shows it and may."""
    import typer

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not (colour or bold)
    line = escape_control_characters(str(text))
    typer.echo(line if plain else typer.style(line, fg=colour, bold=bold), err=error)


def emit(text: str) -> None:
    """Print data for other programs: unchanged into a file or a pipe, made harmless in a terminal."""
    import typer

    typer.echo(text if sys.stdout is None or not sys.stdout.isatty() else escape_control_characters(text))


Cell = str | tuple[str, str]
"""A cell of a table: its text, perhaps with a style for terminals, such as ``bold`` or ``red``."""


def echo_table(head: Sequence[str], rows: Iterable[Sequence[Cell]], title: str = "") -> None:
    """Print a table: as wide as the terminal, with styles, or as aligned columns into a file or a pipe.

    Args:
        head: names of the columns.
        rows: cells of each row.
        title: a line above it.
    """
    import typer

    listed = list(rows)
    cells = [[_text(cell) for cell in row] for row in listed]
    if sys.stdout is None or not sys.stdout.isatty():
        typer.echo("\n".join(filter(None, [escape_control_characters(title), aligned(head, cells)])))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    styles = [["" if isinstance(cell, str) else cell[1] for cell in row] for row in listed]
    table = Table(
        box=SIMPLE_HEAD,
        title=Text(escape_control_characters(title)) if title else None,
        title_justify="left",
        pad_edge=False,
        show_edge=False,
    )
    for name, numeric in zip(head, _numeric(head, cells), strict=True):
        # A number or a name that is broken in two is read wrongly, words are not.
        table.add_column(Text(name), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for texts, styled in zip(cells, styles, strict=True):
        table.add_row(*(Text(text, style=style) for text, style in zip(texts, styled, strict=True)))
    Console(highlight=False).print(table)


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table with blanks between its columns, of which those of numbers end at the right.

    >>> print(aligned(["loss", "mean"], [["mse", "0.5"], ["xe_ndcg", "0.25"]]))
    loss     mean
    mse       0.5
    xe_ndcg  0.25
    """
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    sides = [str.rjust if numeric else str.ljust for numeric in _numeric(head, rows)]
    return "\n".join(
        "  ".join(side(cell, width) for cell, side, width in zip(line, sides, widths, strict=True)).rstrip()
        for line in lines
    )


def _text(cell: Cell) -> str:
    return escape_control_characters(cell if isinstance(cell, str) else cell[0]).replace("\n", " ")


def _numeric(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[bool]:
    """Tell of each column whether it holds numbers and nothing else."""
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


def _warning_line(message: Warning | str, *location: Any, **more: Any) -> str:
    return f"warning: {escape_control_characters(str(message))}\n"
