"""Tables whose numbers lead to the runs that made them."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rankplug.report.behind import Source, narrowed
from rankplug.report.notebook_page import with_words
from rankplug.studies import number

if TYPE_CHECKING:
    import pandas as pd

IDENTITY = re.compile(r"[0-9a-f]{16}")
MARKED = re.compile(r'<span class="combinations((?: [0-9a-f]{16})+)">(.*?)</span>', re.DOTALL)
LONGEST = 200
"""Rows of a table that are shown; all are in its file."""


def page_of(identity: str) -> str:
    """Return the link from the report's first page to the page of a combination."""
    return f"combinations/{identity}.html"


def linked(text: str, identities: Sequence[str]) -> str:
    """Link a number to its combination; where several produced it, the others follow as superscripts."""
    if not identities:
        return text
    first, *others = (f'<a href="{page_of(identity)}">' for identity in identities)
    small = "".join(f"<sup>{link}{place}</a></sup>" for place, link in enumerate(others, 2))
    return f"{first}{text}</a>{small}"


def link_marked(page: str, known: Collection[str]) -> str:
    """Link the numbers that :func:`rankplug.report.show` marked with combinations."""

    def link(found: re.Match[str]) -> str:
        return linked(found[2], [identity for identity in found[1].split() if identity in known])

    return MARKED.sub(link, page)


def table_html(table: pd.DataFrame, sources: Collection[Source], known: Collection[str]) -> str:
    """Return a table as HTML in which a row's numbers link to their combination.

    That is the one in the column ``combination``, or the one of the row's model.

    Args:
        table: of an exhibit.
        sources: the runs behind it.
        known: combinations that have a page.
    """
    import pandas as pd

    if not isinstance(table.index, pd.RangeIndex):
        table = table.reset_index()
    shown = [column for column in table.columns if column != "combination"]
    head = "".join(f"<th>{html.escape(_words(column))}</th>" for column in shown)
    rows = []
    for row in table.head(LONGEST).to_dict("records"):
        identities = [one for one in _identities(row, sources) if one in known]
        rows.append("<tr>" + "".join(f"<td>{_cell(row[column], identities)}</td>" for column in shown) + "</tr>")
    more = len(table) - LONGEST
    note = f'<p class="note">{more} more rows are in the files.</p>' if more > 0 else ""
    whole = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<div class="table">{with_words(whole)}</div>{note}'


def _identities(row: dict[Any, Any], sources: Collection[Source]) -> Iterable[str]:
    named = IDENTITY.findall(str(row.get("combination", "")))
    if named:
        return named
    words = [word for value in row.values() if isinstance(value, str) for word in (value, *value.split(" - "))]
    found = narrowed(sources, words)
    return dict.fromkeys(identity for source in found for identity in source.identities)


def _words(column: Any) -> str:
    return " ".join(map(str, column)) if isinstance(column, tuple) else str(column)


def _cell(value: Any, identities: Sequence[str]) -> str:
    import numpy as np

    if isinstance(value, (float, np.floating)):
        return linked(number(float(value)), identities[:6]) if not np.isnan(value) else ""
    return html.escape(str(value))
