"""Exhibits as HTML: tables whose numbers lead to the runs that made them, laid out alike in notebook and report."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from rankplug.report.notebook_page import is_number
from rankplug.report.rendering import render
from rankplug.studies import Link, Source, layout, number, stand_ins

if TYPE_CHECKING:
    import pandas as pd
    from markupsafe import Markup

    from rankplug.studies import ExhibitEvaluation

LONGEST = 200
"""Rows of a table that are shown; all are in its file."""
MOST_LINKS = 6
"""Combinations that one number leads to; all are listed below the table."""


def links_to(known: Collection[str]) -> Link:
    """Return what makes links to those combinations that have a page."""
    from markupsafe import Markup

    def link(text: str, identities: Sequence[str]) -> str:
        pages = [identity for identity in identities if identity in known][:MOST_LINKS]
        return render("linked", text=Markup(text), identities=pages)

    return link


def numbers_html(shown: ExhibitEvaluation, link: Link) -> Markup:
    """Return an exhibit's numbers as HTML, beside the published ones as the paper lays them out where there are any."""
    import pandas as pd
    from markupsafe import Markup

    if "published on" not in shown.table:
        return table_html(shown.table, shown.sources, link)
    cells = layout(shown.table, shown.exhibit.digits, link)
    with pd.option_context("display.max_colwidth", None):  # pandas would cut long cells off.
        table = Markup(cells.to_html(escape=False, border=0))
    return render("beside_published", table=table, stand_ins=stand_ins(shown.table))


def table_html(table: pd.DataFrame, sources: Collection[Source], link: Link) -> Markup:
    """Return a table as HTML; a row's numbers lead to the combinations its column ``combination`` names.

    A row without that column leads to the runs of its ``model`` among those behind the table.

    Args:
        table: of an exhibit.
        sources: the runs behind it.
        link: makes a link of a number.
    """
    names = [column for column in table.columns if column != "combination"]
    rows = table.head(LONGEST).to_dict("records")
    columns = [(name, not all(is_number(_text(row[name])) for row in rows)) for name in names]
    body = []
    for row in rows:
        identities = _identities(row, sources)
        behind = {name: [] if str(name).startswith("published") else identities for name in names}
        body.append([_cell(row[name], behind[name], link) for name in names])
    return render("numbers", columns=columns, rows=body, more=len(table) - LONGEST)


def _identities(row: dict[Any, Any], sources: Collection[Source]) -> Sequence[str]:
    named = row.get("combination")
    if isinstance(named, str) and named:
        return named.split()
    return [identity for source in sources if source.model == row.get("model") for identity in source.identities]


def _cell(value: Any, identities: Sequence[str], link: Link) -> str:
    """Return a number with its links as HTML, or a text."""
    from markupsafe import Markup

    text = _text(value)
    return Markup(link(text, identities)) if text and _is_fraction(value) else text


def _text(value: Any) -> str:
    if _is_fraction(value):
        return number(float(value))
    return "" if value is None else str(value)


def _is_fraction(value: Any) -> bool:
    import numpy as np

    return isinstance(value, (float, np.floating))
