"""A table as papers print it: a row a model, a column a metric, means with intervals, and marks for what differs."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import did_you_mean
from rankplug.statistics import holm
from rankplug.store._combination import canonical_text
from rankplug.store._store import TRIAL_COLUMNS, ResultsError, Store
from rankplug.store._table_text import escaped, latex_table, markdown_table, write_table
from rankplug.store._tables import PAIRED_BY, compared_by_queries, distinguishing, grouped, query, trial_means
from rankplug.system import Cell, aligned, fraction

if TYPE_CHECKING:
    import pandas as pd

METRIC = "metric"
HIGHER, LOWER = "†", "‡"
DAGGERS = {"": "", HIGHER: r"^{\dagger}", LOWER: r"^{\ddagger}"}
Key = tuple[str, ...]


@dataclass(frozen=True)
class Number:
    """A number of the table.

    Args:
        mean: over trials.
        half_width: half of its interval; nan for a single trial.
        best: whether it is the highest of its column.
        p: of the difference from the baseline, corrected for all tests of the table; nan where there is none.
        mark: for a difference that the test finds, a dagger.
    """

    mean: float
    half_width: float
    best: bool = False
    p: float = math.nan
    mark: str = ""


@dataclass(frozen=True)
class PaperTable:
    """Cells by row and column.

    Args:
        row_names: what the parts of a row's key are, such as ``("backend", "loss")``.
        column_names: the same of the columns.
        cells: of each row and column; a row may lack some.
        note: what the numbers and marks mean.
    """

    row_names: Key
    column_names: Key
    cells: Mapping[tuple[Key, Key], Number] = field(default_factory=dict)
    note: str = ""

    @property
    def rows(self) -> list[Key]:
        """Keys of the rows, in their order."""
        return list(dict.fromkeys(row for row, _ in self.cells))

    @property
    def columns(self) -> list[Key]:
        """Keys of the columns, in their order."""
        return sorted(dict.fromkeys(column for _, column in self.cells), key=_natural)

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row a cell."""
        import pandas as pd

        return pd.DataFrame(
            {
                **dict(zip(self.row_names, row, strict=True)),
                **dict(zip(self.column_names, column, strict=True)),
                **vars(cell),
            }
            for (row, column), cell in self.cells.items()
        )


def paper_table(
    store: Store | str | Path | None = None,
    *,
    where: str = "",
    metric: str | Sequence[str] = (),
    group_by: Sequence[str] = (),
    pivot: Sequence[str] = (METRIC,),
    pool: Sequence[str] = (),
    bold: bool = False,
    versus: str = "",
    level: float = 0.95,
) -> PaperTable:
    """Make a table of means over trials with t intervals, the groups as rows and the metrics as columns.

    With ``versus``, each row is tested against the baseline by a paired permutation test over queries, whose values are
    averaged over trials first; p is Holm's for all tests of the table.

    Args:
        store: the results' folder, or the usual one.
        where: a condition in SQL.
        metric: only these.
        group_by: columns that tell rows apart; those that differ between the results when not given.
        pivot: what becomes columns: ``metric``, or ``dataset`` and ``metric``.
        pool: parts of combinations that may differ inside a group.
        bold: marks the highest mean of each column.
        versus: a name that tells the baseline from the other rows, such as ``lambdarank``.
        level: of the intervals.
    """
    across = list(dict.fromkeys(pivot))
    for name in across:
        if name not in (METRIC, *TRIAL_COLUMNS):
            raise ResultsError(f"{name} cannot become columns: {did_you_mean(name, (METRIC, *TRIAL_COLUMNS))}")
    fraction(level, "level")
    rows = trial_means(store, where, metric)
    if rows.empty:
        raise ResultsError("there is no result to show; sweep first, or widen the condition")
    down = [name for name in (list(group_by) or distinguishing(rows)) if name not in across]
    parts = [name for name in across if name != METRIC]
    groups = [*parts, *down] or ["loss"]
    means = grouped(rows, groups, pool, level)
    down += [METRIC] if METRIC not in across else []
    down = down or ["loss"]
    if "loss" not in means:
        means["loss"] = rows["loss"].iloc[0]
    cells = {
        (_key(row, down), _key(row, across)): Number(row["mean"], (row["high"] - row["low"]) / 2)
        for row in means.to_dict("records")
    }
    note = f"Means over {_numbers(means['trials'])} trials ± half of their {level:.0%} t interval."
    if (means["trials"] <= 1).all():
        note = "One trial each, so no intervals."
    if versus:
        family = _tested(cells, _query_values(store, where, list(means[METRIC].unique())), down, across, versus)
        cells |= family
        note += (
            f" {HIGHER} higher and {LOWER} lower than {versus}, p < .05 by a paired permutation test over queries after"
            f" Holm's correction for {len(family)} tests."
        )
    if bold:
        cells = _with_best(cells, down)
        note += " Bold: the highest of a column" + (" on its data." if "dataset" in down else ".")
    return PaperTable(tuple(down), tuple(across), cells, note)


def _natural(key: Key) -> list[list[Any]]:
    """Return a key for sorting by which ndcg@5 comes before ndcg@10."""
    return [[int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", word)] for word in key]


def _key(row: Mapping[Hashable, Any], names: Sequence[str]) -> Key:
    return tuple("" if row[name] is None or row[name] != row[name] else str(row[name]) for name in names)


def _numbers(counts: pd.Series[int]) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"


def _with_best(cells: Mapping[tuple[Key, Key], Number], down: Sequence[str]) -> dict[tuple[Key, Key], Number]:
    """Mark the highest cell of each column, and of each data set and metric where rows have several."""
    apart = [index for index, name in enumerate(down) if name in ("dataset", METRIC)]
    highest: dict[tuple[Key, Key], float] = {}

    def compared(row: Key, column: Key) -> tuple[Key, Key]:
        return tuple(row[index] for index in apart), column

    for key, cell in cells.items():
        highest[compared(*key)] = max(cell.mean, highest.get(compared(*key), -math.inf))
    return {key: replace(cell, best=cell.mean == highest[compared(*key)]) for key, cell in cells.items()}


def _query_values(store: Store | str | Path | None, where: str, metrics: Sequence[str]) -> pd.DataFrame:
    columns = ", ".join(dict.fromkeys((*PAIRED_BY, *TRIAL_COLUMNS)))
    condition = f"where {where}" if where else ""
    frame = query(f"select {columns}, metric, value from queries {condition}", store)
    return frame[frame[METRIC].isin(metrics)]


def _tested(
    cells: Mapping[tuple[Key, Key], Number], values: pd.DataFrame, down: list[str], across: list[str], versus: str
) -> dict[tuple[Key, Key], Number]:
    """Return the cells of all rows but the baseline's, with the corrected p of their difference from it."""
    keys = [*down, *across]
    groups = {}
    for names, group in values.groupby(keys, dropna=False, sort=False):
        named: dict[Hashable, Any] = dict(zip(keys, names, strict=True))
        groups[_key(named, down), _key(named, across)] = group
    tests = {}
    for (row, column), baseline in _pairs(cells, canonical_text(versus), versus):
        test = compared_by_queries(groups[row, column], groups[baseline, column])
        if test is not None:
            tests[row, column] = test
    if not tests:
        raise ResultsError(f"no row has two queries in common with {versus}; widen the condition")
    corrected = holm([test.p_value for test in tests.values()])
    marks = [LOWER, "", HIGHER]
    return {
        key: replace(cells[key], p=p, mark=marks[int(rejected * math.copysign(1, test.difference)) + 1])
        for (key, test), p, rejected in zip(tests.items(), corrected.p_values, corrected.rejected, strict=True)
    }


def _pairs(
    cells: Mapping[tuple[Key, Key], Number], baseline: str, written: str
) -> Iterator[tuple[tuple[Key, Key], Key]]:
    """Yield each cell that is compared, and the row of the baseline that it is compared with."""
    rows = list(dict.fromkeys(row for row, _ in cells))
    baselines = [row for row in rows if baseline in row]
    if not baselines:
        known = {name for row in rows for name in row if name}
        raise ResultsError(f"no row of the table is called {written}: {did_you_mean(written, known)}")
    for row, column in cells:
        if row in baselines:
            continue
        alike = [
            candidate
            for candidate in baselines
            if all(a == b or b == baseline for a, b in zip(row, candidate, strict=True))
        ]
        against = baselines if len(baselines) == 1 else alike
        if len(against) != 1:
            raise ResultsError(
                f"{written} names {len(baselines)} rows, and none or several of them differ from {' / '.join(row)} in"
                " nothing else; choose some with --where"
            )
        if (against[0], column) in cells:
            yield (row, column), against[0]


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
        numbers = zip(_row_numbers(table, row, "*"), best, strict=True)
        rows.append([*row, *((text, "bold") if highest else text for text, highest in numbers)])
    return _head(table), rows


def _head(table: PaperTable) -> list[str]:
    return [*table.row_names, *(" ".join(column) for column in table.columns)]


def plain_note(table: PaperTable) -> str:
    """Return what is to be known of a table's numbers, where stars stand for bold."""
    return table.note.replace("Bold:", "Between stars:")


def _plain(table: PaperTable) -> str:
    rows = [[*row, *_row_numbers(table, row, "*")] for row in table.rows]
    return f"{aligned(_head(table), rows)}\n\n{plain_note(table)}"


def _markdown(head: list[str], table: PaperTable) -> str:
    rows = [[*row, *_row_numbers(table, row, "**")] for row in table.rows]
    return f"{markdown_table(head, rows)}\n\n{table.note}"


def _row_numbers(table: PaperTable, row: tuple[str, ...], star: str) -> list[str]:
    return [_number_text(table.cells.get((row, column)), star) for column in table.columns]


def _number_text(cell: Number | None, star: str) -> str:
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
