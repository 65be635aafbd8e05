"""Tables as text, for a terminal, a spreadsheet, a program or a page, and tables as papers print them.

A paper's table has a row per model, a column per metric, means with intervals, and marks for differences.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import did_you_mean
from rankplug.statistics import PairedTest, holm
from rankplug.store._combination import canonical_text
from rankplug.store._store import TRIAL_COLUMNS, ResultsError, Store
from rankplug.store._tables import PAIRED_BY, compared_by_queries, distinguishing, grouped, query, trial_means
from rankplug.system import Cell, aligned, fraction

if TYPE_CHECKING:
    import pandas as pd

METRIC = "metric"
HIGHER, LOWER = "†", "‡"
DAGGERS = {"": "", HIGHER: r"^{\dagger}", LOWER: r"^{\ddagger}"}
Key = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PaperTable:
    """A table of means.

    Args:
        cells: one row per cell: the parts of the keys of its row and column as text; ``mean``; ``half_width`` of the
            interval, nan for a single trial; ``best``, whether it is the highest of its column; ``p`` of the difference
            from the baseline, corrected for all tests of the table; ``mark``, a dagger for a significant difference.
        row_names: names of the parts of a row's key, such as ``("backend", "loss")``.
        column_names: names of the parts of a column's key.
        note: meaning of the numbers and marks.
    """

    cells: pd.DataFrame
    row_names: Key
    column_names: Key
    note: str = ""

    @property
    def rows(self) -> list[Key]:
        """Keys of the rows."""
        return _keys(self.cells, self.row_names)

    @property
    def columns(self) -> list[Key]:
        """Keys of the columns; ndcg@5 comes before ndcg@10."""
        return sorted(
            _keys(self.cells, self.column_names),
            key=lambda key: [[int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", word)]
                             for word in key],
        )  # fmt: skip

    @property
    def head(self) -> list[str]:
        """Names of the columns of the text."""
        return [*self.row_names, *(" ".join(column) for column in self.columns)]

    def texts(self, number: Callable[[Any], Any]) -> list[list[Any]]:
        """Return the rows as text, with the keys first and an empty text for each missing cell.

        Args:
            number: function that formats a cell.
        """
        names = (self.row_names, self.column_names)
        keys = [self.cells[list(parts)].itertuples(index=False, name=None) for parts in names]
        texts = dict(zip(zip(*keys, strict=True), map(number, self.cells.itertuples()), strict=True))
        return [[*row, *(texts.get((row, column), "") for column in self.columns)] for row in self.rows]


def _keys(cells: pd.DataFrame, names: Sequence[str]) -> list[Key]:
    return list(cells[list(names)].drop_duplicates().itertuples(index=False, name=None))


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
    """Return a table of means over trials with t intervals, the groups as rows and the metrics as columns.

    With ``versus``, each row is tested against the baseline by a paired permutation test over queries, whose values are
    averaged over trials first; p is Holm's for all tests of the table.

    Args:
        store: the folder of results; that of the project by default.
        where: a condition in SQL.
        metric: the metrics; all by default.
        group_by: columns that tell rows apart; by default those that differ between the results.
        pivot: columns of the results that become columns of the table: ``metric``, or ``dataset`` and ``metric``.
        pool: parts of combinations that may differ inside a group.
        bold: whether to mark the highest mean of each column.
        versus: a name that tells the baseline from the other rows, such as ``lambdarank``.
        level: level of the intervals.
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
    means = grouped(rows, [name for name in across if name != METRIC] + down or ["loss"], pool, level)
    down += [METRIC] if METRIC not in across else []
    down = down or ["loss"]
    if "loss" not in means:
        means["loss"] = rows["loss"].iloc[0]
    cells = _as_text(means[[*down, *across]]).assign(
        mean=means["mean"], half_width=(means["high"] - means["low"]) / 2, best=False, p=math.nan, mark=""
    )
    low, high = means["trials"].min(), means["trials"].max()
    trials = str(low) if low == high else f"{low} to {high}"
    note = f"Means over {trials} trials ± half of their {level:.0%} t interval."
    if high <= 1:
        note = "One trial each, so no intervals."
    if versus:
        tests = _tests(cells, _query_values(store, where, list(means[METRIC].unique())), down, across, versus)
        corrected = holm([test.p_value for test in tests.values()])
        marks = [LOWER, "", HIGHER]
        cells.loc[list(tests), "p"] = corrected.p_values
        cells.loc[list(tests), "mark"] = [
            marks[int(rejected * math.copysign(1, test.difference)) + 1]
            for test, rejected in zip(tests.values(), corrected.rejected, strict=True)
        ]
        note += (
            f" {HIGHER} higher and {LOWER} lower than {versus}, p < .05 by a paired permutation test over queries after"
            f" Holm's correction for {len(tests)} tests."
        )
    if bold:
        apart = [*across, *(name for name in down if name in ("dataset", METRIC))]
        cells["best"] = cells["mean"] == cells.groupby(apart)["mean"].transform("max")
        note += " Bold: the highest of a column" + (" on its data." if "dataset" in down else ".")
    return PaperTable(cells, tuple(down), tuple(across), note)


def _as_text(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(object).where(frame.notna(), "").map(str)


def _query_values(store: Store | str | Path | None, where: str, metrics: Sequence[str]) -> pd.DataFrame:
    columns = ", ".join(dict.fromkeys((*PAIRED_BY, *TRIAL_COLUMNS)))
    condition = f"where {where}" if where else ""
    frame = query(f"select {columns}, metric, value from queries {condition}", store)
    return frame[frame[METRIC].isin(metrics)]


def _tests(
    cells: pd.DataFrame, values: pd.DataFrame, down: list[str], across: list[str], versus: str
) -> dict[int, PairedTest]:
    """Test the cells of all rows but the baselines against the baseline's, by their position."""
    name = canonical_text(versus)
    rows = _keys(cells, down)
    baselines = [row for row in rows if name in row]
    if not baselines:
        known = {part for row in rows for part in row if part}
        raise ResultsError(f"no row of the table is called {versus}: {did_you_mean(versus, known)}")
    names = [*down, *across]
    groups = dict(list(values.groupby([*_as_text(values[names]).to_numpy().T], sort=False)))
    tests = {}
    for position, key in enumerate(cells[names].itertuples(index=False, name=None)):
        row, column = key[: len(down)], key[len(down) :]
        if row in baselines:
            continue
        alike = [
            baseline
            for baseline in baselines
            if len(baselines) == 1 or all(own in (part, name) for part, own in zip(row, baseline, strict=True))
        ]
        if len(alike) != 1:
            raise ResultsError(
                f"{versus} names {len(baselines)} rows, and none or several of them differ from {' / '.join(row)} in"
                " nothing else; choose some with --where"
            )
        if (*alike[0], *column) in groups:
            test = compared_by_queries(groups[key], groups[(*alike[0], *column)])
            if test is not None:
                tests[position] = test
    if not tests:
        raise ResultsError(f"no row has two queries in common with {versus}; widen the condition")
    return tests


def write_paper_table(table: PaperTable, form: str) -> str:
    """Format a paper's table as :func:`rankplug.store.write_table` does; a program gets a row per cell."""
    if form in ("csv", "json"):
        return write_table(table.cells, form)
    if form == "latex":
        return _latex(table)
    if form == "markdown":
        return f"{markdown_table(table.head, table.texts(lambda cell: _number(cell, '**')))}\n\n{table.note}"
    return f"{aligned(table.head, table.texts(_starred))}\n\n{plain_note(table)}"


def paper_table_cells(table: PaperTable) -> tuple[list[str], list[list[Cell]]]:
    """Return the heads of a paper's table and its rows for a terminal, the highest of each column in bold."""
    return table.head, table.texts(lambda cell: (_starred(cell), "bold" if cell.best else ""))


def plain_note(table: PaperTable) -> str:
    """Return the note of a table in which stars stand for bold."""
    return table.note.replace("Bold:", "Between stars:")


def _number(cell: Any, star: str) -> str:
    mean = f"{star}{cell.mean:.4f}{star}" if cell.best else f"{cell.mean:.4f}"
    half = "" if math.isnan(cell.half_width) else f" ± {cell.half_width:.4f}"
    return f"{mean}{half} {cell.mark}".rstrip()


def _starred(cell: Any) -> str:
    return _number(cell, "*")


def _latex_number(cell: Any) -> str:
    mean = rf"\mathbf{{{cell.mean:.4f}}}" if cell.best else f"{cell.mean:.4f}"
    half = "" if math.isnan(cell.half_width) else rf" \pm {cell.half_width:.4f}"
    return f"${mean}{half}{DAGGERS[cell.mark]}$"


def _latex(table: PaperTable) -> str:
    """Format a table in LaTeX, with a head for each part of the columns' keys, which spans neighbours that share it."""
    before, last = len(table.row_names), len(table.column_names) - 1
    heads, rules = [], ""
    for level in range(last + 1):
        keys = [column[: level + 1] for column in table.columns]
        spans = [(escaped(key[-1]), len(list(alike))) for key, alike in itertools.groupby(keys)]
        heads.append(
            [escaped(name) if level == last else "" for name in table.row_names]
            + [
                key if level == last and count == 1 else rf"\multicolumn{{{count}}}{{c}}{{{key}}}"
                for key, count in spans
            ]
        )
        if level == 0 < last:
            ends = itertools.accumulate((count for _, count in spans), initial=before)
            rules = " ".join(rf"\cmidrule(lr){{{first + 1}-{end}}}" for first, end in itertools.pairwise(ends))
    rows = [[*map(escaped, row[:before]), *row[before:]] for row in table.texts(_latex_number)]
    sides = "l" * before + "r" * len(table.columns)
    return f"{latex_table(heads, rows, sides, rules)}\n% {table.note}"


SPECIAL = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
"""Characters with a meaning in LaTeX, and how they are written."""


def write_table(frame: pd.DataFrame, form: str) -> str:
    """Format a frame as text: ``table``, ``csv``, ``json``, ``latex`` or ``markdown``.

    Forms for people leave out parts of combinations and incomplete trials where no row has any.
    """
    if form == "csv":
        return frame.to_csv(index=False).rstrip("\n")
    if form == "json":
        return str(frame.to_json(orient="records", indent=1))
    if form == "table":
        return aligned(*table_cells(frame)) if len(frame) else "no results"
    from pandas.api.types import is_numeric_dtype

    frame = _without_empty_columns(frame)
    rows = frame.itertuples(index=False, name=None)
    if form == "markdown":
        return markdown_table(frame.columns, rows)
    sides = "".join("r" if is_numeric_dtype(column) else "l" for _, column in frame.items())
    return latex_table([list(map(escaped, frame.columns))], [list(map(_latex_value, row)) for row in rows], sides)


def table_cells(frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the names of a frame's columns, and the text of its cells, for people to read."""
    frame = _without_empty_columns(frame)
    rows = [["" if value is None else _digits(value) for value in row] for row in frame.itertuples(index=False)]
    return list(map(str, frame.columns)), rows


def _digits(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _without_empty_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without columns that are empty in every row; of numeric ones only ``incomplete`` can be."""
    from pandas.api.types import is_numeric_dtype

    if frame.empty:
        return frame
    return frame.loc[
        :,
        [
            name != "incomplete" or column.any()
            if is_numeric_dtype(column)
            else not (column.isna() | column.eq("")).all()
            for name, column in frame.items()
        ],
    ]


def markdown_table(head: Iterable[Any], rows: Iterable[Iterable[Any]], bar: str = "\\|") -> str:
    r"""Format a table in Markdown; numbers with fractions have four digits.

    Args:
        head: names of the columns.
        rows: cells, in Markdown already.
        bar: text for a bar in a cell, which would end it.

    >>> print(markdown_table(["model", "mean"], [("a|b", 0.5)]))
    | model | mean |
    | --- | --- |
    | a\|b | 0.5000 |
    """
    names = list(head)
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(_digits(cell).replace('|', bar) for cell in line)} |" for line in lines)


def latex_table(heads: Sequence[Sequence[str]], rows: Iterable[Sequence[str]], sides: str, rules: str = "") -> str:
    """Format a table in LaTeX with the rules of the package booktabs; its cells are LaTeX already.

    Args:
        heads: the lines above the rule; cells that span columns are written out in them.
        rows: the cells.
        sides: alignment of each column, one letter each.
        rules: rules below the first head.
    """
    first, *others = [f"{' & '.join(head)} \\\\" for head in heads]
    body = [f"{' & '.join(row)} \\\\" for row in rows]
    begin = [r"% \usepackage{booktabs}", rf"\begin{{tabular}}{{{sides}}}", r"\toprule", first, *filter(None, [rules])]
    return "\n".join([*begin, *others, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"])


def escaped(text: str) -> str:
    r"""Escape a text for LaTeX.

    >>> escaped("xe_ndcg 5%")
    'xe\\_ndcg 5\\%'
    """
    return "".join(SPECIAL.get(sign, sign) for sign in text)


def _latex_value(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return escaped(_digits(value) if not isinstance(value, float) or math.isfinite(value) else str(value))
