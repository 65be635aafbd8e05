"""Numbers that papers print, beside our own.

A study keeps them as ``published.csv`` in its package, as printed: ``exhibit, dataset, model, metric, value,
half_width, note``; ``half_width`` is half of the printed interval, where there is one.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from rankplug.studies.study_results import Results


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


def read_published(package: str) -> pd.DataFrame:
    """Read the published numbers in a study's package."""
    import pandas as pd

    with resources.files(package).joinpath("published.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def beside_published(
    results: Results, group: str, metrics: tuple[str, ...], *, exhibit: str, dataset: str, scale: float = 100.0
) -> pd.DataFrame:
    """Return a group's test metrics beside the published ones, a row for each model and metric.

    There is a difference only where our data are not made: published numbers of other data are a reference.

    Args:
        results: of the study.
        group: whose models are shown.
        metrics: in their order.
        exhibit: the paper's table.
        dataset: the paper's data set.
        scale: of the printed numbers, 100 for percent.
    """
    import pandas as pd

    printed = results.published
    printed = printed[(printed["exhibit"] == exhibit) & (printed["dataset"] == dataset)]
    theirs = {
        (model, metric): (value, half_width)
        for model, metric, value, half_width in printed[["model", "metric", "value", "half_width"]].itertuples(
            index=False
        )
    }
    frame, made = results[group], results.is_made(group)
    rows = []
    for model in results.models(group):
        for metric in metrics:
            of_trials = scale * results.trials(group, metric)[model]
            ours = float(of_trials.mean())
            value, half_width = theirs.get((model, metric), (np.nan, np.nan))
            rows.append(
                {
                    "published on": dataset,
                    "data": results.collection(group, dataset) if made else dataset,
                    "ours on": ", ".join(frame["dataset"].unique()),
                    "model": model,
                    "metric": metric,
                    "ours": ours,
                    "half width": results.mean(group, metric, model, scale).half_width,
                    "trials": len(of_trials),
                    "published": value,
                    "published half width": half_width,
                    "difference": np.nan if made else ours - value,
                    "combination": results.combinations_of(group, model),
                }
            )
    return pd.DataFrame(rows)


def stand_ins(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the paper's data sets in a table of :func:`beside_published`, each with the data in its place."""
    pairs = table[["published on", "ours on"]].drop_duplicates()
    return [(str(theirs), str(ours)) for theirs, ours in pairs.itertuples(index=False)]


def beside(row: pd.Series[float], digits: int = 2) -> str:
    """Format one cell of such a table: ours with its interval, and the published number in brackets."""
    ours = _with_interval(row[["ours"]], row[["half width"]], digits)[0]
    theirs = _with_interval(row[["published"]], row[["published half width"]], digits)[0]
    return f"{ours} [{theirs}]" if theirs else ours


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
                for text in _with_interval(reference["published"], reference["published half width"], digits)
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
    texts = _with_interval(table["ours"], table["half width"], digits)
    published = _with_interval(table["published"], table["published half width"], digits)
    rows = zip(table.to_dict("records"), texts, published, best, strict=True)
    cells = []
    for row, text, theirs, bold in rows:
        names, same = row["combination"], np.isfinite(row["difference"])
        data = html.escape(str(row.get("data", row["published on"])))
        number = str(link(f"<b>{text}</b>" if bold else text, names.split() if isinstance(names, str) else []))
        cell = f'<span title="{html.escape(_about(row, digits))}">{number}</span>'
        if same:
            cell += f"<br><small>{theirs}, {_number(row['difference'], digits, '+')}</small>"
        cells.append({"data": data, "model": html.escape(str(row["model"])), "metric": row["metric"], "cell": cell})
    return pd.DataFrame(cells, columns=["data", "model", "metric", "cell"])


def _about(row: Mapping[Any, Any], digits: int) -> str:
    """Tell on what a number of ours rests, for readers who point at it."""
    trials = f"{row['trials']:g} trial{'s' * (row['trials'] != 1)}"
    if not np.isfinite(row["half width"]):
        return f"{trials}, no interval"
    low, high = (_number(row["ours"] + side * row["half width"], digits) for side in (-1, 1))
    return f"95 % interval [{low}, {high}], {trials}"


def heading(metric: str) -> str:
    """Return a metric's name for the head of a column.

    >>> heading("ndcg@10"), heading("ndcg@1[empty=1]")
    ('NDCG@10', 'NDCG@1[empty=1]')
    """
    name, bracket, parameters = metric.partition("[")
    return name.upper() + bracket + parameters


def number(value: float) -> str:
    """Format a number for a reader, with four digits or all before the point; empty for nan.

    >>> number(0.123456), number(16140.0), number(float("nan"))
    ('0.1235', '16,140', '')
    """
    if np.isnan(value):
        return ""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value or 0.0:.4g}"


def _with_interval(values: pd.Series[float], half_widths: pd.Series[float], digits: int) -> list[str]:
    return [
        _number(value, digits) + plus_minus(value, half, digits)
        for value, half in zip(values, half_widths, strict=True)
    ]


def plus_minus(value: float, half: float, digits: int) -> str:
    """Return half of an interval as tables show it, after a no-break space; empty for nan.

    That of two trials may be wider than all values that a metric can have, of which no digit says anything.

    >>> [plus_minus(*one).replace("\N{NO-BREAK SPACE}", " ") for one in ((0.704, 0.021, 3), (73.81, 173.95, 2))]
    [' ± 0.021', ' ± > 100']
    """
    if not np.isfinite(half):
        return ""
    scale = 1.0 if abs(value) <= 1 else 100.0
    words = f">\N{NO-BREAK SPACE}{scale:g}" if abs(value) <= scale < half else f"{half:.{digits}f}"
    return f"\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{words}"


def _number(value: float, digits: int, sign: str = "") -> str:
    return f"{value:{sign}.{digits}f}" if np.isfinite(value) else ""
