"""Exhibits as HTML: tables whose numbers lead to the runs that made them, laid out alike in notebook and report."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from rankplug.report.notebook_page import with_words
from rankplug.studies import Link, Source, layout, number, stand_ins

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.studies import ExhibitEvaluation

LONGEST = 200
"""Rows of a table that are shown; all are in its file."""
MOST_LINKS = 6
"""Combinations that one number leads to; all are listed below the table."""


def page_of(identity: str) -> str:
    """Return the page of a combination, relative to the report."""
    return f"combinations/{identity}.html"


def linked(text: str, identities: Sequence[str]) -> str:
    """Return a number that leads to its combination; where several made it, the others follow as small figures."""
    if not identities:
        return text
    first, *others = (f'<a href="{page_of(identity)}">' for identity in identities)
    small = "".join(f"<sup>{link}{place}</a></sup>" for place, link in enumerate(others, 2))
    return f"{first}{text}</a>{small}"


def links_to(known: Collection[str]) -> Link:
    """Return what makes links to those combinations that have a page."""
    return lambda text, identities: linked(text, [one for one in identities if one in known][:MOST_LINKS])


def numbers_html(shown: ExhibitEvaluation, link: Link) -> str:
    """Return an exhibit's numbers as HTML, beside the published ones as the paper lays them out where there are any."""
    if "published on" not in shown.table:
        return table_html(shown.table, shown.sources, link)
    pairs = [(html.escape(theirs), html.escape(data)) for theirs, data in stand_ins(shown.table)]
    ours = "".join(f"<li>in the place of {theirs}, ours on {data}</li>" for theirs, data in pairs)
    return f"{whole_table(layout(shown.table, shown.exhibit.digits, link))}<ul>{ours}</ul>"


def whole_table(table: pd.DataFrame, **options: Any) -> str:
    """Return a table of cells in HTML as HTML; pandas would cut long ones off."""
    import pandas as pd

    with pd.option_context("display.max_colwidth", None):
        return str(table.to_html(escape=False, border=0, **options))


def table_html(table: pd.DataFrame, sources: Collection[Source], link: Link) -> str:
    """Return a table as HTML; a row's numbers lead to the combinations its column ``combination`` names.

    A row without that column leads to the runs of its ``model`` among those behind the table.

    Args:
        table: of an exhibit.
        sources: the runs behind it.
        link: makes a link of a number.
    """
    shown = [column for column in table.columns if column != "combination"]
    head = "".join(f"<th>{html.escape(str(column))}</th>" for column in shown)
    rows = []
    for row in table.head(LONGEST).to_dict("records"):
        identities = _identities(row, sources)
        behind = {column: [] if column.startswith("published") else identities for column in shown}
        cells = "".join(f"<td>{_cell(row[column], behind[column], link)}</td>" for column in shown)
        rows.append(f"<tr>{cells}</tr>")
    more = len(table) - LONGEST
    note = f'<p class="note">{more} more rows are in the files of this exhibit.</p>' if more > 0 else ""
    whole = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<div class="table">{with_words(whole)}</div>{note}'


def _identities(row: dict[Any, Any], sources: Collection[Source]) -> Sequence[str]:
    named = row.get("combination")
    if isinstance(named, str) and named:
        return named.split()
    return [identity for source in sources if source.model == row.get("model") for identity in source.identities]


def _cell(value: Any, identities: Sequence[str], link: Link) -> str:
    import numpy as np

    if isinstance(value, (float, np.floating)):
        return link(number(float(value)), identities) if not np.isnan(value) else ""
    return html.escape("" if value is None else str(value))
