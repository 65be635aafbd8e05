"""Tables as text: for a terminal, a spreadsheet, a program, a paper or a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rankplug.system import aligned

if TYPE_CHECKING:
    import pandas as pd

SPECIAL = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
"""Characters that LaTeX obeys, and how they are written."""


def write_table(frame: pd.DataFrame, form: str) -> str:
    """Format a frame as text: ``table``, ``csv``, ``json``, ``latex`` or ``markdown``.

    Those that people read leave out parts of combinations and incomplete trials where no row has any.
    """
    if form == "csv":
        return frame.to_csv(index=False).rstrip("\n")
    if form == "json":
        return str(frame.to_json(orient="records", indent=1))
    frame = _telling(frame)
    if form == "latex":
        cells = [[_latex_value(value) for value in row] for row in frame.itertuples(index=False, name=None)]
        return latex_table([[escaped(str(name)) for name in frame.columns]], cells, _sides(frame))
    if form == "markdown":
        return markdown_table(frame.columns, frame.itertuples(index=False, name=None))
    return aligned(*table_cells(frame)) if len(frame) else "no results"


def table_cells(frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the names of a frame's columns, and the text of its cells, for people to read."""
    frame = _telling(frame)
    rows = [[_plain_value(value) for value in row] for row in frame.itertuples(index=False, name=None)]
    return list(map(str, frame.columns)), rows


def _plain_value(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else "" if value is None else str(value)


def _telling(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame without the columns that say nothing."""
    kept = [not _says_nothing(name, column) for name, column in frame.items()]
    return frame.loc[:, kept] if len(frame) else frame


def _says_nothing(name: Any, column: pd.Series[Any]) -> bool:
    """Tell whether a column is empty in every row; of numeric columns only ``incomplete`` can be."""
    from pandas.api.types import is_numeric_dtype

    if is_numeric_dtype(column):
        return bool(name == "incomplete" and (column == 0).all())
    return bool((column.isna() | column.eq("")).all())


def markdown_table(head: Iterable[Any], rows: Iterable[Iterable[Any]], bar: str = "\\|") -> str:
    r"""Lay out a table in Markdown; numbers with fractions have four digits.

    Args:
        head: names of the columns.
        rows: cells, in Markdown already.
        bar: what stands for a bar in a cell, which would end it.

    >>> print(markdown_table(["model", "mean"], [("a|b", 0.5)]))
    | model | mean |
    | --- | --- |
    | a\|b | 0.5000 |
    """

    def line(cells: Iterable[Any]) -> str:
        words = (f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in cells)
        return f"| {' | '.join(word.replace('|', bar) for word in words)} |"

    names = list(head)
    return "\n".join([line(names), line(["---"] * len(names)), *map(line, rows)])


def latex_table(heads: Sequence[Sequence[str]], rows: Iterable[Sequence[str]], sides: str, rules: str = "") -> str:
    """Lay out a table in LaTeX with the rules of the package booktabs; its cells are LaTeX already.

    Args:
        heads: the lines above the rule; cells that span columns are written out in them.
        rows: the cells.
        sides: to which side each column is set, a letter each.
        rules: below the first head.
    """
    written = [f"{' & '.join(head)} \\\\" for head in heads]
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            *written[:1],
            *([rules] if rules else []),
            *written[1:],
            r"\midrule",
            *(f"{' & '.join(row)} \\\\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def escaped(text: str) -> str:
    r"""Write a text so that LaTeX sets it as it is.

    >>> escaped("xe_ndcg 5%")
    'xe\\_ndcg 5\\%'
    """
    return "".join(SPECIAL.get(sign, sign) for sign in text)


def _sides(frame: pd.DataFrame) -> str:
    from pandas.api.types import is_numeric_dtype

    return "".join("r" if is_numeric_dtype(column) else "l" for _, column in frame.items())


def _latex_value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}" if math.isfinite(value) else "" if math.isnan(value) else escaped(str(value))
    return "" if value is None else escaped(str(value))
