"""Outputs of a study's notebook: figures, tables beside the published numbers, claims with their verdicts."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from matplotlib.figure import Figure

    from rankplug.studies import Results, Study


BAR = "\N{DIVIDES}"


def show(study: Study, exhibit: str, results: Results, digits: int = 2) -> Any:
    """Return an exhibit for a notebook: its figure, or its table, laid out as in the paper if it has published numbers.

    Args:
        study: whose exhibit it is.
        exhibit: its name.
        results: of the study.
        digits: behind the point, of a table with published numbers.
    """
    import matplotlib.pyplot as plt

    from rankplug.studies import layout, stand_ins

    table, figure = study.exhibit(exhibit).draw(results)
    if figure is not None:
        plt.close(figure)
        return figure
    if "published on" in table.columns:
        pairs = [(html.escape(theirs), html.escape(data)) for theirs, data in stand_ins(table)]
        ours = "".join(f"<li>in the place of {theirs}, ours on {data}</li>" for theirs, data in pairs)
        return _html(f"{_whole(layout(table, digits))}<ul>{ours}</ul>")
    return _html(_whole(_marked(table), index=False))


def _marked(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with cells in HTML, whose numbers are marked with the combinations of their row."""
    from rankplug.studies import made_by, number

    def cell(value: object, combinations: str) -> str:
        if not isinstance(value, float):
            return html.escape(str(value))
        return made_by(number(value), combinations) if combinations else number(value)

    made = table["combination"] if "combination" in table else [""] * len(table)
    shown = table.drop(columns="combination", errors="ignore")
    shown = shown.rename(columns=lambda label: html.escape(str(label)))
    return shown.apply(lambda column: [cell(value, names) for value, names in zip(column, made, strict=True)])


def _whole(table: pd.DataFrame, **options: Any) -> str:
    """Return a table of HTML cells without pandas' limit on their width."""
    import pandas as pd

    with pd.option_context("display.max_colwidth", None):
        return str(table.to_html(escape=False, border=0, **options))


def live(draw: Callable[..., Figure], **controls: Any) -> None:
    """Show a figure with controls above it, and draw it again when one of them moves.

    The first picture is an ordinary output of the cell, so that a notebook that nobody watches has it too.

    Args:
        draw: makes the figure; its parameters have the names of the controls.
        controls: widgets, or what :func:`ipywidgets.interact` makes widgets of.
    """
    import ipywidgets
    import matplotlib.pyplot as plt
    from IPython import display

    widgets = ipywidgets.interactive(lambda **values: None, **controls).children[:-1]

    def picture() -> Figure:
        figure = draw(**{name: widget.value for name, widget in zip(controls, widgets, strict=True)})
        plt.close(figure)
        return figure

    if widgets:
        display.display(ipywidgets.VBox(widgets))  # type: ignore[no-untyped-call]
    shown = display.display(picture(), display_id=True)  # type: ignore[no-untyped-call]
    for widget in widgets:
        widget.observe(lambda change: shown.update(picture()), names="value")


def show_claims(study: Study, results: Results) -> Any:
    """Show every claim with its verdict and the evidence."""
    rows = ["| claim | verdict | evidence |", "|---|---|---|"]
    for claim in study.claims:
        verdict = claim.judge(results)
        place = f"*{claim.exhibit}* " if claim.exhibit else ""
        cells = (place + claim.sentence, f"**{verdict.verdict}**", verdict.lines)
        # A bar would end the cell, in formulas too.
        rows.append(f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |")
    seen = [f"- {one.sentence} {told}" for one in study.observations if (told := one.tell(results))]
    if seen:
        rows += ["", "Observed, without a test:", "", *seen]
    return _markdown("\n".join(rows))


def show_findings(study: Study) -> Any:
    """Show known errors and gaps of the paper, and what is done about them."""
    return _markdown("\n".join(f"- {finding}" for finding in study.findings))


def show_runs(results: Results) -> Any:
    """Return a folded table of what was trained on which data."""
    table = results.describe().map(lambda cell: html.escape(cell) if isinstance(cell, str) else cell)
    alike = [column for column in table.columns if column != "group"]
    compact = table.groupby(alike, sort=False)["group"].agg("<br>".join).reset_index()
    columns = ["model", "loss", "sampler", "fitted by", "data", "transforms", "trials", "folds", "group"]
    summary = f"<summary>{len(compact)} combinations at the profile {results.profile}</summary>"
    return _html(f"<details>{summary}{_whole(compact[columns], index=False)}</details>")


def _html(text: str) -> Any:
    from IPython.display import HTML

    return HTML(text)  # type: ignore[no-untyped-call]


def _markdown(text: str) -> Any:
    from IPython.display import Markdown

    return Markdown(text)  # type: ignore[no-untyped-call]
