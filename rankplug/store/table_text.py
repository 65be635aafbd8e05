"""Tables as text: for a terminal, a spreadsheet, a program, a paper or a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def write_table(frame: pd.DataFrame, form: str) -> str:
    """Format a frame as text: ``table``, ``csv``, ``json``, ``latex`` or ``markdown``.

    Those that people read leave out parts of combinations and incomplete trials where no row has any.
    """
    if form == "csv":
        return frame.to_csv(index=False).rstrip("\n")
    if form == "json":
        return str(frame.to_json(orient="records", indent=1))
    frame = frame.loc[:, [not _says_nothing(name, column) for name, column in frame.items()]] if len(frame) else frame
    if form == "latex":
        return str(frame.style.format(precision=4, escape="latex").hide().to_latex(hrules=True)).rstrip("\n")
    if form == "markdown":
        return _markdown(frame)
    return str(frame.to_string(index=False, float_format="{:.4f}".format)) if len(frame) else "no results"


def _says_nothing(name: Any, column: pd.Series[Any]) -> bool:
    """Tell whether a column is empty in every row; of numeric columns only ``incomplete`` can be."""
    from pandas.api.types import is_numeric_dtype

    if is_numeric_dtype(column):
        return bool(name == "incomplete" and (column == 0).all())
    return bool((column.isna() | column.eq("")).all())


def _markdown(frame: pd.DataFrame) -> str:
    def cell(value: Any) -> str:
        return (f"{value:.4f}" if isinstance(value, float) else str(value)).replace("|", "\\|")

    def line(cells: Iterable[Any]) -> str:
        return f"| {' | '.join(map(cell, cells))} |"

    rows = [line(row) for row in frame.itertuples(index=False, name=None)]
    return "\n".join([line(frame.columns), line(["---"] * frame.shape[1]), *rows])
