"""Tables of exhibits: in HTML their numbers lead to the runs behind them, in LaTeX they look as in a paper."""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from rankplug.report.notebook_page import is_number
from rankplug.report.rendering import render_macro
from rankplug.store import escaped
from rankplug.studies import RunSource, heading, number, rounded, stand_ins, with_interval

if TYPE_CHECKING:
    import pandas as pd
    from markupsafe import Markup

    from rankplug.studies import ExhibitEvaluation

LONGEST, LONGEST_OF_FIGURE = 200, 30
"""Rows of a table, and of the numbers of a figure, that are shown; all are in the file."""
MOST_LINKS = 6
"""Combinations that one number leads to; all are listed below the table."""
HALF_WIDTH = "half width"
WITH_LIMITS = ("mean", "value", "difference", "ours")
"""Columns whose interval the columns ``low`` and ``high`` may be; the first that a table has."""
Pages = Mapping[str, int]
"""Identity of each combination that has a page -> its number of trials."""


def numbers_html(shown: ExhibitEvaluation, pages: Pages | None = None) -> Markup:
    """Return an exhibit's numbers as HTML, beside the published ones as the paper lays them out where there are any.

    Args:
        shown: the exhibit.
        pages: combinations that numbers can lead to.
    """
    from markupsafe import Markup

    if "published on" not in shown.table:
        longest = LONGEST_OF_FIGURE if shown.pictures else LONGEST
        return table_html(shown.table, shown.sources, pages or {}, longest)
    cells = layout(shown.table, shown.digits, pages).reset_index()
    return render_macro(
        "beside_published",
        columns=[(Markup(name), name in ("data", "model")) for name in cells],
        rows=[map(Markup, row) for row in cells.to_numpy()],
        stand_ins=[(theirs, ours) for theirs, ours in stand_ins(shown.table) if theirs != ours],
        references=bool(_is_reference(shown.table).any()),
    )


def _linked(text: str, identities: Sequence[str], pages: Pages, interval: str = "", trials: str = "") -> str:
    """Return a number in HTML with its extent in its title, as a link to the combinations that have a page."""
    linked = [identity for identity in identities if identity in pages][:MOST_LINKS]
    counts = sorted({pages[identity] for identity in linked})
    if counts and not trials:
        trials = f"{' or '.join(map(str, counts))} trial{'s' * (counts[-1] > 1)}"
    hint = ", ".join(filter(None, [trials, interval]))
    return render_macro("linked", text=text, identities=linked, hint=hint)


def layout(table: pd.DataFrame, digits: int = 2, pages: Pages | None = None) -> pd.DataFrame:
    """Lay the rows of :func:`beside_published` out as the paper does: a row for each model, a column for each metric.

    The best of ours is bold. A published number of the same data stands below ours, with the difference; those of other
    data are rows of their own at the end, which say so and are marked as a reference.

    The cells are HTML: show them with ``IPython.display.HTML(layout(table).to_html(escape=False))``.
    """
    import pandas as pd
    from markupsafe import Markup

    table = table.assign(metric=table["metric"].map(heading).map(html.escape))
    pairs = zip(table["published"], table["published half width"], strict=True)
    theirs = [with_interval(value, half, digits) for value, half in pairs]
    rows = zip(table.to_dict("records"), _is_best(table), _is_reference(table), theirs, strict=True)
    ours: list[tuple[str, ...]] = []
    reference: list[tuple[str, ...]] = []
    for row, is_best, is_reference, published in rows:
        model, metric = html.escape(str(row["model"])), row["metric"]
        if math.isfinite(row["ours"]):
            text = Markup("<b>{}</b>" if is_best else "{}").format(with_interval(row["ours"], row[HALF_WIDTH], digits))
            names = row["combination"].split() if isinstance(row["combination"], str) else []
            trials = f"{row['trials']:g} trial{'s' * (row['trials'] != 1)}"
            cell = _linked(text, names, pages or {}, _interval_in_words(row, digits), trials)
            if math.isfinite(row["difference"]):
                cell += Markup("<br><small>{}, {}</small>").format(published, rounded(row["difference"], digits, "+"))
            ours.append((html.escape(_data_of(row)), model, metric, cell))
        if is_reference:
            place = "published, on " + html.escape(str(row["published on"]))
            reference.append((place, model, metric, Markup('<span class="reference">{}</span>').format(published)))
    names = ["data", "model", "metric", "cell"]
    return _wide(pd.DataFrame(ours + reference, columns=names), "cell", table["metric"].unique())


def _wide(cells: pd.DataFrame, values: str | list[str], metrics: Collection[Any]) -> pd.DataFrame:
    """Return cells with a row for each data and model and a column for each metric, in the order they first have."""
    import pandas as pd

    rows = pd.MultiIndex.from_frame(cells[["data", "model"]].drop_duplicates())
    wide = cells.pivot(index=["data", "model"], columns="metric", values=values).reindex(rows).fillna("")
    if not isinstance(values, str):
        return wide.swaplevel(axis=1)[[(metric, value) for metric in metrics for value in values]]
    return wide.reindex(columns=list(metrics)).rename_axis(columns=None)


def _is_best(table: pd.DataFrame) -> pd.Series[bool]:
    return table.groupby(["published on", "metric"], observed=True)["ours"].transform("max") == table["ours"]


def _is_reference(table: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows have a published number on other data than ours."""
    return table["published"].notna() & table["difference"].isna()


def _data_of(row: Mapping[Any, Any]) -> str:
    """Return the data of a row's own numbers; those of the published one where there is no number of ours."""
    return str(row.get("data") or row["published on"])


def _interval_in_words(row: Mapping[Any, Any], digits: int) -> str:
    if not math.isfinite(row[HALF_WIDTH]):
        return "no interval"
    low, high = (rounded(row["ours"] + side * row[HALF_WIDTH], digits) for side in (-1, 1))
    return f"95 % interval [{low}, {high}]"


def table_html(table: pd.DataFrame, sources: Collection[RunSource], pages: Pages, longest: int = LONGEST) -> Markup:
    """Return a table as HTML; a row's numbers lead to the combinations its column ``combination`` names.

    A row without that column leads to the runs of its ``model`` among those behind the table. A column in which no row
    has anything, such as the difference to numbers of other data, is left out.

    Args:
        table: of an exhibit.
        sources: the runs behind it.
        pages: combinations that numbers can lead to.
        longest: number of rows that are shown.
    """
    of_models: dict[str, list[str]] = {}
    for source in sources:
        of_models.setdefault(source.model, []).extend(source.identities)
    rows = []
    for row in table.head(longest).to_dict("records"):
        named = row.get("combination")
        identities = named.split() if isinstance(named, str) and named else of_models.get(row.get("model", ""), ())
        rows.append({name: _cell(row, str(name), identities, pages) for name in row if name != "combination"})
    names = [name for name in table.columns if name != "combination"]
    names = [name for name in names if not rows or any(text for text, _ in (row[name] for row in rows))]
    return render_macro(
        "numbers",
        columns=[(name, not all(is_number(row[name][0]) for row in rows)) for name in names],
        rows=[[row[name][1] for name in names] for row in rows],
        more=len(table) - longest,
    )


def _cell(row: Mapping[Any, Any], name: str, identities: Sequence[str], pages: Pages) -> tuple[str, str]:
    """Return a number or a text as text, and the same as HTML with links."""
    value = row[name]
    if not _is_fraction(value):
        return (text := "" if value is None else str(value)), text
    text, ends = number(float(value)), _interval_of(row, name)
    if not text:
        return text, text
    interval = f"95 % interval {number(ends[0])} to {number(ends[1])}" if ends else ""
    return text, _linked(text, [] if name.startswith("published") else identities, pages, interval)


def _is_fraction(value: Any) -> TypeGuard[float]:
    return isinstance(value, (float, np.floating))


def _interval_of(row: Mapping[Any, Any], name: str) -> tuple[float, float] | None:
    """Return the ends of the interval that a row has for one of its numbers; none where it has none."""
    half = row.get(HALF_WIDTH if name == "ours" else f"{name} {HALF_WIDTH}")
    if _is_fraction(half) and math.isfinite(half):
        return row[name] - half, row[name] + half
    ends = [row[end] for end in ("low", "high") if name == _with_limits(row) and _is_fraction(row[end])]
    return (ends[0], ends[1]) if len(ends) == 2 and all(map(math.isfinite, ends)) else None


def _with_limits(columns: Collection[Any]) -> str | None:
    """Return the column whose interval the columns ``low`` and ``high`` are."""
    return next((name for name in WITH_LIMITS if name in columns), None) if {"low", "high"} <= set(columns) else None


def exhibit_latex(table: pd.DataFrame) -> str:
    """Set a table with the rules of booktabs; a number and its interval share a cell, digests are left out.

    Numbers beside published ones are laid out as in the paper, with two columns for each metric.
    """
    import pandas as pd

    hidden = {"combination", *(("low", "high") if _with_limits(table.columns) else ())}
    names = [str(name) for name in table if name not in hidden and not str(name).endswith(HALF_WIDTH)]
    rows = table.to_dict("records")
    cells = pd.DataFrame({name: [_latex_cell(row, name) for row in rows] for name in names})
    index = {"published on", "model", "metric"}
    if {*index, "ours", "published"} <= set(names) and not table.duplicated(list(index)).any():
        best = _is_best(table).tolist()
        cells["ours"] = [_latex_cell(row, "ours", bold=bold) for row, bold in zip(rows, best, strict=True)]
        cells["data"] = [escaped(_data_of(row)) for row in rows]
        wide = _wide(cells, ["ours", "published"], cells["metric"].unique()).reset_index()
        wide.columns.names = [None, None]
        text = wide.to_latex(index=False, column_format="ll" + "r" * (wide.shape[1] - 2), multicolumn_format="c")
    else:
        sides = "".join("r" if pd.api.types.is_numeric_dtype(table[name].dtype) else "l" for name in names)
        text = cells.rename(columns=escaped).to_latex(index=False, column_format=sides)
    return "% \\usepackage{booktabs}\n" + text


def _latex_cell(row: Mapping[Any, Any], name: str, *, bold: bool = False) -> str:
    """Set a number with its interval, or a text."""
    value = row[name]
    if not _is_fraction(value) or math.isinf(value):
        return "" if value is None else escaped(str(value))
    if math.isnan(value):
        return ""
    text = rf"\mathbf{{{value:.4g}}}" if bold else f"{value:.4g}"
    ends = _interval_of(row, name)
    if ends is None:
        return f"${text}$"
    if name == _with_limits(row):
        return rf"${text}\;[{ends[0]:.4g}, {ends[1]:.4g}]$"
    return rf"${text} \pm {ends[1] - value:.2g}$"
