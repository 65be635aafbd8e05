"""Outputs of a study's notebook: figures, tables beside the published numbers, claims with verdicts.

Every output says in its metadata what of the study it shows, so that the report can render it with links to the runs.
"""

from __future__ import annotations

import base64
import functools
import io
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rankplug.report.exhibit_tables import numbers_html
from rankplug.report.rendering import render
from rankplug.store import markdown_table
from rankplug.studies import evidence_of, forest_of, unlinked

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from rankplug.studies import Study, StudyEvaluation

BAR = "\N{DIVIDES}"
SCREEN_SHARE = 96 / 144
"""Width on the screen of a figure's pixels, so that its text is as large as in print."""


class Output:
    """An output of a notebook's cell, with what of a study it shows.

    Args:
        data: content by its media type.
        shows: the study, and the exhibit or that it is the claims.
        options: of media types, such as a picture's width.
    """

    def __init__(self, data: dict[str, str], shows: dict[str, Any] | None = None, **options: Any) -> None:
        self.data = data
        self.metadata = {**options, **({"rankplug": shows} if shows else {})}
        self.study, self.name = "", ""

    def _repr_mimebundle_(self, **asked: Any) -> tuple[dict[str, str], dict[str, Any]]:
        return self.data, self.metadata

    def _ipython_display_(self) -> None:
        if self.study not in _renewed:
            raise NotImplementedError  # IPython then shows what _repr_mimebundle_ returns.
        from IPython import display

        display.display(self.data, raw=True, metadata=self.metadata, display_id=self.name)  # type: ignore[no-untyped-call]


_renewed: dict[str, dict[str, Callable[[StudyEvaluation], Output]]] = {}
"""Study -> outputs in this notebook by name, and what shows each anew; only of studies with controls."""
Show = TypeVar("Show", bound="Callable[..., Output]")


def renewable(show: Show) -> Show:
    """Let controls of a study show an output anew, see :func:`rankplug.report.controls`."""

    @functools.wraps(show)
    def shown(evaluation: StudyEvaluation, *about: str) -> Output:
        output = show(evaluation, *about)
        output.study, output.name = evaluation.study.name, " ".join([evaluation.study.name, show.__name__, *about])
        if output.study in _renewed:
            _renewed[output.study][output.name] = lambda other: show(other, *about)
        return output

    return cast("Show", shown)


def let_renew(study: Study) -> None:
    """Take down what is shown of a study from now on, so that :func:`renew_outputs` finds it."""
    _renewed.setdefault(study.name, {})


def renew_outputs(evaluation: StudyEvaluation) -> None:
    """Show all outputs of a study in this notebook anew, where they stand."""
    from IPython import display

    for name, show in list(_renewed.get(evaluation.study.name, {}).items()):
        output = show(evaluation)
        display.update_display(output.data, raw=True, metadata=output.metadata, display_id=name)  # type: ignore[no-untyped-call]


@renewable
def show(evaluation: StudyEvaluation, exhibit: str) -> Output:
    """Show an exhibit: its figure, or its table, laid out as in the paper if it has published numbers.

    Args:
        evaluation: of the study, see :func:`rankplug.studies.evaluate`.
        exhibit: its name.
    """
    shown = evaluation.exhibit(exhibit)
    shows = {"study": evaluation.study.name, "exhibit": exhibit}
    words = f"{exhibit}: {shown.exhibit.title}"
    if "png" not in shown.pictures:
        return Output({"text/html": numbers_html(shown, unlinked), "text/plain": words}, shows)
    picture, width = _for_screen(shown.pictures["png"])
    return Output({"image/png": picture, "text/plain": words}, shows, **{"image/png": {"width": width}})


def _for_screen(content: bytes) -> tuple[str, int]:
    """Return a figure as a notebook keeps it, and its width on the screen."""
    from PIL import Image

    with Image.open(io.BytesIO(content)) as picture:
        width = round(picture.width * SCREEN_SHARE)
    return base64.b64encode(content).decode(), width


def _drawn(figure: Figure) -> tuple[dict[str, str], dict[str, Any]]:
    """Return a figure as a notebook keeps it, with few colours and so many times smaller, and close it."""
    import matplotlib.pyplot as plt

    from rankplug.plotting import encode_figure, mark_lines

    mark_lines(figure)
    file = io.BytesIO()
    encode_figure(figure, file, "png")
    plt.close(figure)
    picture, width = _for_screen(file.getvalue())
    return {"image/png": picture, "text/plain": "figure"}, {"image/png": {"width": width}}


def live(draw: Callable[..., Figure], **controls: Any) -> None:
    """Show a figure with controls above it, and draw it again when one of them moves.

    The first picture is an ordinary output of the cell, so that a notebook that nobody watches has it too.

    Args:
        draw: makes the figure; its parameters have the names of the controls.
        controls: widgets, or what :func:`ipywidgets.interact` makes widgets of.
    """
    import ipywidgets
    from IPython import display

    widgets = ipywidgets.interactive(lambda **values: None, **controls).children[:-1]

    def picture() -> tuple[dict[str, str], dict[str, Any]]:
        from rankplug.plotting import in_style

        with in_style():
            return _drawn(draw(**{name: widget.value for name, widget in zip(controls, widgets, strict=True)}))

    if widgets:
        display.display(ipywidgets.VBox(widgets))  # type: ignore[no-untyped-call]
    data, metadata = picture()
    shown = display.display(data, raw=True, metadata=metadata, display_id=True)  # type: ignore[no-untyped-call]

    def draw_again(change: object) -> None:
        data, metadata = picture()
        shown.update(data, raw=True, metadata=metadata)

    for widget in widgets:
        widget.observe(draw_again, names="value")


@renewable
def show_claims(evaluation: StudyEvaluation) -> Output:
    """Show every claim with its verdict and the evidence."""
    rows = []
    for shown in evaluation.claims:
        claim, verdict = shown.claim, shown.verdict
        exhibit = f"*{claim.exhibit}* " if claim.exhibit else ""
        rows.append((exhibit + claim.label, f"**{verdict.verdict}**", verdict.lines))
    # A bar would end the cell, in formulas too, where it cannot be escaped.
    lines = [markdown_table(("claim", "verdict", "evidence"), rows, BAR)]
    seen = [f"- {observation.observation.text} {observation.told}" for observation in evaluation.observations]
    if seen:
        lines += ["", "Observed, without a test:", "", *seen]
    shows = {"study": evaluation.study.name, "claims": True}
    return Output({"text/markdown": "\n".join(lines), "text/plain": f"{len(rows)} claims with their verdicts"}, shows)


@renewable
def show_forest(evaluation: StudyEvaluation) -> Output:
    """Show all claims in one picture, each with its difference in units of the margin that would matter."""
    data, options = _drawn(forest_of([evidence_of(evaluation)]))
    shows = {"study": evaluation.study.name, "forest": True}
    return Output({**data, "text/plain": "all claims"}, shows, **options)


def show_findings(study: Study) -> Output:
    """Show known errors and gaps of the paper, and what is done about them."""
    text = "\n".join(f"- {finding}" for finding in study.findings)
    return Output({"text/markdown": text, "text/plain": text})


@renewable
def show_runs(evaluation: StudyEvaluation) -> Output:
    """Return a folded table of what was trained on which data."""
    table = evaluation.runs
    alike = [column for column in table.columns if column != "group"]
    compact = table.groupby(alike, sort=False)["group"].agg(list).reset_index()
    columns = ["model", "loss", "sampler", "fitted by", "data", "transforms", "trials", "folds"]
    rows = [
        {"cells": cells, "groups": groups} for *cells, groups in compact[[*columns, "group"]].itertuples(index=False)
    ]
    summary = f"{len(compact)} combinations at the profile {evaluation.results.profile}"
    body = render("folded_runs", summary=summary, columns=[*columns, "group"], rows=rows)
    return Output({"text/html": body, "text/plain": summary})
