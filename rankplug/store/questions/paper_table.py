"""A table as papers print it: a row a model, a column a metric, means with intervals, and marks for what differs."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import did_you_mean
from rankplug.statistics import holm
from rankplug.store.canonical_names import canonical_text
from rankplug.store.questions.comparison import PAIRED_BY, compared_by_queries
from rankplug.store.questions.groups import distinguishing
from rankplug.store.questions.tables import query, results
from rankplug.store.result_store import TRIAL_COLUMNS, ResultsError, Store

if TYPE_CHECKING:
    import pandas as pd

METRIC = "metric"
HIGHER, LOWER = "†", "‡"
Key = tuple[str, ...]


@dataclass(frozen=True)
class Cell:
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
    cells: Mapping[tuple[Key, Key], Cell] = field(default_factory=dict)
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
    rows = results(store, where=where, metric=metric)
    if rows.empty:
        raise ResultsError("there is no result to show; sweep first, or widen the condition")
    down = [name for name in (list(group_by) or distinguishing(rows)) if name not in across]
    parts = [name for name in across if name != METRIC]
    groups = [*parts, *down] or ["loss"]
    means = results(store, where=where, metric=metric, group_by=groups, pool=pool, level=level)
    down += [METRIC] if METRIC not in across else []
    down = down or ["loss"]
    if "loss" not in means:
        means["loss"] = rows["loss"].iloc[0]
    cells = {
        (_key(row, down), _key(row, across)): Cell(row["mean"], (row["high"] - row["low"]) / 2)
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


def _with_best(cells: Mapping[tuple[Key, Key], Cell], down: Sequence[str]) -> dict[tuple[Key, Key], Cell]:
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
    cells: Mapping[tuple[Key, Key], Cell], values: pd.DataFrame, down: list[str], across: list[str], versus: str
) -> dict[tuple[Key, Key], Cell]:
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


def _pairs(cells: Mapping[tuple[Key, Key], Cell], baseline: str, written: str) -> Iterator[tuple[tuple[Key, Key], Key]]:
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
