"""A paper's table as text: for a terminal, a page or a paper."""

from __future__ import annotations

import itertools
import math

from rankplug.store.questions.paper_table import HIGHER, LOWER, PaperTable
from rankplug.store.questions.paper_table import Cell as Number
from rankplug.store.questions.table_text import escaped, latex_table, markdown_table, write_table
from rankplug.system import Cell, aligned

DAGGERS = {"": "", HIGHER: r"^{\dagger}", LOWER: r"^{\ddagger}"}


def write_paper_table(table: PaperTable, form: str) -> str:
    """Write a paper's table in the forms of :func:`rankplug.store.write_table`; a program gets a row a cell."""
    if form in ("csv", "json"):
        return write_table(table.frame(), form)
    if form == "latex":
        return _latex(table)
    return _markdown(_head(table), table) if form == "markdown" else _plain(table)


def paper_table_cells(table: PaperTable) -> tuple[list[str], list[list[Cell]]]:
    """Return the heads of a paper's table and its rows for a terminal, the highest of each column in bold."""
    rows: list[list[Cell]] = []
    for row in table.rows:
        best = [(cell := table.cells.get((row, column))) is not None and cell.best for column in table.columns]
        numbers = zip(_numbers(table, row, "*"), best, strict=True)
        rows.append([*row, *((text, "bold") if highest else text for text, highest in numbers)])
    return _head(table), rows


def _head(table: PaperTable) -> list[str]:
    return [*table.row_names, *(" ".join(column) for column in table.columns)]


def plain_note(table: PaperTable) -> str:
    """Return what is to be known of a table's numbers, where stars stand for bold."""
    return table.note.replace("Bold:", "Between stars:")


def _plain(table: PaperTable) -> str:
    rows = [[*row, *_numbers(table, row, "*")] for row in table.rows]
    return f"{aligned(_head(table), rows)}\n\n{plain_note(table)}"


def _markdown(head: list[str], table: PaperTable) -> str:
    rows = [[*row, *_numbers(table, row, "**")] for row in table.rows]
    return f"{markdown_table(head, rows)}\n\n{table.note}"


def _numbers(table: PaperTable, row: tuple[str, ...], star: str) -> list[str]:
    return [_number(table.cells.get((row, column)), star) for column in table.columns]


def _number(cell: Number | None, star: str) -> str:
    if cell is None:
        return ""
    mean = f"{star}{cell.mean:.4f}{star}" if cell.best else f"{cell.mean:.4f}"
    half = "" if math.isnan(cell.half_width) else f" ± {cell.half_width:.4f}"
    return f"{mean}{half} {cell.mark}".rstrip()


def _latex(table: PaperTable) -> str:
    rows = [
        [*map(escaped, row), *(_latex_number(table.cells.get((row, column))) for column in table.columns)]
        for row in table.rows
    ]
    sides = "l" * len(table.row_names) + "r" * len(table.columns)
    rules = _rules(table) if len(table.column_names) > 1 else ""
    return f"{latex_table(_heads(table), rows, sides, rules)}\n% {table.note}"


def _latex_number(cell: Number | None) -> str:
    if cell is None:
        return ""
    mean = rf"\mathbf{{{cell.mean:.4f}}}" if cell.best else f"{cell.mean:.4f}"
    half = "" if math.isnan(cell.half_width) else rf" \pm {cell.half_width:.4f}"
    return f"${mean}{half}{DAGGERS[cell.mark]}$"


def _heads(table: PaperTable) -> list[list[str]]:
    """Return a line for each part of the columns' keys; a part that neighbours share spans them."""
    heads = []
    for level in range(len(table.column_names)):
        last = level == len(table.column_names) - 1
        line = [escaped(name) if last else "" for name in table.row_names]
        for key, columns in _spans(table, level):
            spanning = columns > 1 or not last
            line.append(rf"\multicolumn{{{columns}}}{{c}}{{{escaped(key)}}}" if spanning else escaped(key))
        heads.append(line)
    return heads


def _spans(table: PaperTable, level: int) -> list[tuple[str, int]]:
    """Return the parts of the columns' keys at a level, and over how many columns each stretches."""
    keys = [column[: level + 1] for column in table.columns]
    return [(key[-1], len(list(alike))) for key, alike in itertools.groupby(keys)]


def _rules(table: PaperTable) -> str:
    """Draw a rule below each part of the columns' first head."""
    ends = list(itertools.accumulate((columns for _, columns in _spans(table, 0)), initial=len(table.row_names)))
    return " ".join(rf"\cmidrule(lr){{{first + 1}-{last}}}" for first, last in itertools.pairwise(ends))
