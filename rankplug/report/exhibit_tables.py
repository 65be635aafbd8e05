"""Tables of exhibits: in HTML their numbers lead to the runs that made them, in LaTeX they look as in a paper.

All of an exhibit's numbers are in a file for other programs, beside its pictures.
"""

from __future__ import annotations

import gzip
import html
import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

from rankplug.report.notebook_page import is_number, with_words
from rankplug.report.rendering import render_macro
from rankplug.store import escaped, latex_table
from rankplug.studies import RunSource, heading, number, rounded, stand_ins, with_interval

if TYPE_CHECKING:
    import pandas as pd
    from markupsafe import Markup

    from rankplug.studies import ExhibitEvaluation

LONGEST, LONGEST_OF_FIGURE = 200, 30
"""Rows of a table, and of the numbers of a figure, that are shown; all are in the file."""
MOST_LINKS = 6
"""Combinations that one number leads to; all are listed below the table."""
OURS, HALF_WIDTH, LOW, HIGH = "ours", "half width", "low", "high"
PAPERS = ("published on", "model", "metric", OURS)
"""Columns of a table that puts numbers beside published ones, whose metrics are set side by side."""
INVISIBLE = {"combination", HALF_WIDTH, LOW, HIGH}
DIGITS = "%.7g"
"""Digits of numbers in files for other programs, more than any of them has for sure."""
LARGEST = 40_000
"""Bytes of a file of numbers that is not compressed."""
Row = Mapping[Hashable, Any]


class Link(Protocol):
    """Makes of a number in HTML one that leads to the combinations behind it."""

    def __call__(self, text: str, identities: Sequence[str], interval: str = "") -> str:
        """Return the number as HTML.

        Args:
            text: the number.
            identities: of the combinations.
            interval: of the number, in words, where the text does not have it.
        """


def unlinked(text: str, identities: Sequence[str], interval: str = "") -> str:
    """Return a number as it is, where there are no pages it could lead to."""
    return text


def links_to(known: Mapping[str, int]) -> Link:
    """Return what makes links to those combinations that have a page, which tell the pointer of trials and interval.

    Args:
        known: trials of each combination that has a page.
    """
    from markupsafe import Markup

    def link(text: str, identities: Sequence[str], interval: str = "") -> str:
        pages = [identity for identity in identities if identity in known][:MOST_LINKS]
        trials = sorted({known[identity] for identity in pages})
        extent = f"{' or '.join(map(str, trials))} trial{'s' * (trials[-1] > 1)}" if trials else ""
        hint = ", ".join(filter(None, [extent, interval]))
        return render_macro("linked", text=Markup(text), identities=pages, hint=hint)

    return link


def numbers_html(shown: ExhibitEvaluation, link: Link) -> Markup:
    """Return an exhibit's numbers as HTML, beside the published ones as the paper lays them out where there are any."""
    import pandas as pd
    from markupsafe import Markup

    if "published on" not in shown.table:
        longest = LONGEST_OF_FIGURE if shown.pictures else LONGEST
        return table_html(shown.table, shown.sources, link, longest)
    cells = layout(shown.table, shown.digits, link).reset_index()
    with pd.option_context("display.max_colwidth", None):  # pandas would cut long cells off.
        table = with_words(Markup(cells.to_html(escape=False, border=0, index=False)))
    pairs = [(theirs, ours) for theirs, ours in stand_ins(shown.table) if theirs != ours]
    return render_macro("beside_published", table=table, stand_ins=pairs, references="reference" in table)


def layout(table: pd.DataFrame, digits: int = 2, link: Link = unlinked) -> pd.DataFrame:
    """Lay the rows of :func:`beside_published` out as the paper does: a row for each model, a column for each metric.

    The best of ours is bold. A published number of the same data stands below ours, with the difference; those of other
    data are rows of their own at the end, which say so and are marked as a reference.

    The cells are HTML: show them with ``IPython.display.HTML(layout(table).to_html(escape=False))``.
    """
    import pandas as pd

    table = table.assign(metric=table["metric"].map(heading).map(html.escape))
    ours = _cells_of(table[table["ours"].notna()], digits, link)
    reference = table[table["published"].notna() & table["difference"].isna()]
    theirs = pd.DataFrame(
        {
            "data": ["published, on " + html.escape(str(dataset)) for dataset in reference["published on"]],
            "model": reference["model"].astype(str).map(html.escape),
            "metric": reference["metric"],
            "cell": [
                f'<span class="reference">{text}</span>'
                for text in _intervals(reference, "published", "published half width", digits)
            ],
        }
    )
    cells = pd.concat([ours, theirs], ignore_index=True)
    rows = pd.MultiIndex.from_frame(cells[["data", "model"]].drop_duplicates())
    wide = cells.pivot(index=["data", "model"], columns="metric", values="cell")
    wide.columns.name = None
    return wide.reindex(columns=list(table["metric"].unique()), index=rows).fillna("")


def _cells_of(table: pd.DataFrame, digits: int, link: Link) -> pd.DataFrame:
    """Return our cells with their data, model and metric."""
    import pandas as pd

    best = table.groupby(["published on", "metric"], observed=True)["ours"].transform("max") == table["ours"]
    texts = _intervals(table, "ours", "half width", digits)
    published = _intervals(table, "published", "published half width", digits)
    rows = zip(table.to_dict("records"), texts, published, best, strict=True)
    cells = []
    for row, text, theirs, bold in rows:
        names, same = row["combination"], math.isfinite(row["difference"])
        data = html.escape(_data_of(row))
        number = str(link(f"<b>{text}</b>" if bold else text, names.split() if isinstance(names, str) else []))
        cell = f'<span title="{html.escape(_about(row, digits))}">{number}</span>'
        if same:
            cell += f"<br><small>{theirs}, {rounded(row['difference'], digits, '+')}</small>"
        cells.append({"data": data, "model": html.escape(str(row["model"])), "metric": row["metric"], "cell": cell})
    return pd.DataFrame(cells, columns=["data", "model", "metric", "cell"])


def _intervals(table: pd.DataFrame, value: str, half: str, digits: int) -> list[str]:
    return [with_interval(*pair, digits) for pair in zip(table[value], table[half], strict=True)]


def _about(row: Mapping[Any, Any], digits: int) -> str:
    """Tell on what a number of ours rests, for readers who point at it."""
    trials = f"{row['trials']:g} trial{'s' * (row['trials'] != 1)}"
    if not math.isfinite(row["half width"]):
        return f"{trials}, no interval"
    low, high = (rounded(row["ours"] + side * row["half width"], digits) for side in (-1, 1))
    return f"95 % interval [{low}, {high}], {trials}"


def table_html(table: pd.DataFrame, sources: Collection[RunSource], link: Link, longest: int = LONGEST) -> Markup:
    """Return a table as HTML; a row's numbers lead to the combinations its column ``combination`` names.

    A row without that column leads to the runs of its ``model`` among those behind the table. A column in which no row
    has anything, such as the difference to numbers of other data, is left out.

    Args:
        table: of an exhibit.
        sources: the runs behind it.
        link: makes a link of a number.
        longest: rows that are shown.
    """
    rows = table.head(longest).to_dict("records")
    filled = (name for name in table.columns if not rows or any(_text(row[name]) for row in rows))
    names = [name for name in filled if name != "combination"]
    columns = [(name, not all(is_number(_text(row[name])) for row in rows)) for name in names]
    body = []
    for row in rows:
        identities = _identities(row, sources)
        behind = {name: [] if str(name).startswith("published") else identities for name in names}
        body.append([_cell(row, name, behind[name], link) for name in names])
    return render_macro("numbers", columns=columns, rows=body, more=len(table) - longest)


def _identities(row: dict[Any, Any], sources: Collection[RunSource]) -> Sequence[str]:
    named = row.get("combination")
    if isinstance(named, str) and named:
        return named.split()
    return [identity for source in sources if source.model == row.get("model") for identity in source.identities]


def _cell(row: Row, name: Hashable, identities: Sequence[str], link: Link) -> str:
    """Return a number with its links as HTML, or a text."""
    from markupsafe import Markup

    text = _text(row[name])
    if not text or not _is_fraction(row[name]):
        return text
    ends = _interval_of(row, str(name))
    return Markup(link(text, identities, f"95 % interval {number(ends[0])} to {number(ends[1])}" if ends else ""))


def _interval_of(row: Row, name: str) -> tuple[float, float] | None:
    """Return the ends of the interval that a row has for one of its numbers; none where it has none."""
    half = _half_width(row, name)
    if math.isfinite(half):
        return float(row[name]) - half, float(row[name]) + half
    return _ends(row, name)


def _half_width(row: Row, name: str) -> float:
    half = row.get(HALF_WIDTH if name == OURS else f"{name} {HALF_WIDTH}")
    return float(half) if _is_fraction(half) else math.nan


def _ends(row: Row, name: str) -> tuple[float, float] | None:
    """Return the columns ``low`` and ``high`` of the number whose interval they are."""
    if _of_interval(list(row)) != name:
        return None
    low, high = (float(end) if _is_fraction(end) else math.nan for end in (row.get(LOW), row.get(HIGH)))
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _text(value: Any) -> str:
    if _is_fraction(value):
        return number(float(value))
    return "" if value is None else str(value)


def _is_fraction(value: Any) -> TypeGuard[float]:
    import numpy as np

    return isinstance(value, (float, np.floating))


def exhibit_latex(table: pd.DataFrame) -> str:
    """Set a table with the rules of booktabs; a number and its interval share a cell, digests are left out."""
    columns = [str(name) for name in table.columns if not _belongs_to_another(str(name), table)]
    rows: list[Row] = list(table.to_dict("records"))
    if set(PAPERS) <= set(columns) and not table.duplicated(list(PAPERS[:3])).any():
        return _side_by_side(rows)
    body = [[_latex_cell(row, name) for name in columns] for row in rows]
    return latex_table([[escaped(name) for name in columns]], body, "".join(_side(table, name) for name in columns))


def _belongs_to_another(name: str, table: pd.DataFrame) -> bool:
    interval_of_a_number = name in (LOW, HIGH) and _of_interval(list(table.columns)) is not None
    return name == "combination" or name.endswith(HALF_WIDTH) or interval_of_a_number


def _of_interval(names: Sequence[Any]) -> str | None:
    """Return the column whose interval the columns ``low`` and ``high`` are."""
    several = list(map(str, names))
    if LOW not in several or HIGH not in several:
        return None
    return next((name for name in ("mean", "value", "difference", OURS) if name in several), None)


def _side_by_side(rows: list[Row]) -> str:
    """Lay out a row a data set and model, and for each metric our number and the published one."""
    metrics = list(dict.fromkeys(str(row["metric"]) for row in rows))
    cells = {(_data_of(row), str(row["model"]), str(row["metric"])): row for row in rows}
    heads_of_rows = list(dict.fromkeys(key[:2] for key in cells))
    highest: dict[tuple[str, str], float] = {}
    for (data, _, metric), row in cells.items():
        highest[data, metric] = max(float(row[OURS]), highest.get((data, metric), -math.inf))
    body = []
    for data, model in heads_of_rows:
        line = [escaped(data), escaped(model)]
        for metric in metrics:
            row = cells.get((data, model, metric), {})
            best = bool(row) and float(row[OURS]) == highest[data, metric]
            line += [_latex_cell(row, OURS, bold=best), _latex_cell(row, "published")]
        body.append(line)
    heads = ["", "", *(rf"\multicolumn{{2}}{{c}}{{{escaped(metric)}}}" for metric in metrics)]
    rules = " ".join(rf"\cmidrule(lr){{{first}-{first + 1}}}" for first in range(3, 3 + 2 * len(metrics), 2))
    names = ["data", "model", *["ours", "published"] * len(metrics)]
    return latex_table([heads, names], body, "ll" + "rr" * len(metrics), rules)


def _data_of(row: Row) -> str:
    """Return the data of a row's own numbers; those of the published one where there is no number of ours."""
    return str(row.get("data") or row["published on"])


def _latex_cell(row: Row, name: str, *, bold: bool = False) -> str:
    """Set a number with its interval, or a text."""
    value = row.get(name)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, float):
        return escaped(str(value))
    if not math.isfinite(value):
        return escaped(str(value))
    number = rf"\mathbf{{{value:.4g}}}" if bold else f"{value:.4g}"
    half, ends = _half_width(row, name), _ends(row, name)
    if math.isfinite(half):
        return rf"${number} \pm {half:.2g}$"
    if ends:
        return rf"${number}\;[{ends[0]:.4g}, {ends[1]:.4g}]$"
    return f"${number}$"


def _side(table: pd.DataFrame, name: str) -> str:
    from pandas.api.types import is_numeric_dtype

    return "r" if is_numeric_dtype(table[name].dtype) else "l"


def exhibit_files(pictures: Mapping[str, bytes], table: pd.DataFrame, folder: Path, stem: str) -> tuple[str, ...]:
    """Write pictures, and their numbers for other programs and, if few, for LaTeX; return the names of the files.

    Many numbers, such as those of curves, are compressed, to a tenth.

    Args:
        pictures: by their suffixes.
        table: the numbers.
        folder: of the report.
        stem: of the files, within it.
    """
    path = folder / stem
    path.parent.mkdir(parents=True, exist_ok=True)
    contents = {suffix: content for suffix, content in pictures.items() if suffix != "json"}
    numbers = table.to_csv(index=False, float_format=DIGITS).encode()
    many = len(numbers) > LARGEST
    contents["csv.gz" if many else "csv"] = gzip.compress(numbers, mtime=0) if many else numbers
    if len(table) <= LONGEST:
        contents["tex"] = exhibit_latex(table).encode()
    for suffix, content in contents.items():
        Path(f"{path}.{suffix}").write_bytes(content)
    return tuple(f"{stem}.{suffix}" for suffix in contents)


def by_suffix(files: Iterable[str]) -> dict[str, str]:
    """Return files by their suffixes, such as ``csv.gz``."""
    return {Path(file).name.partition(".")[2]: file for file in files}
