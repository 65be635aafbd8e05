"""Cells of a study's notebook: controls, figures, tables beside the published numbers, claims, the artefact.

Every output says in its metadata what of the study it shows, so that its page can link to files and runs.
"""

from __future__ import annotations

import ast
import base64
import functools
import html
import io
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rankplug.errors import ParameterError, RankplugError, did_you_mean
from rankplug.registry import registry
from rankplug.report.exhibit_tables import numbers_html
from rankplug.report.forest import forest_of
from rankplug.report.rendering import render_macro
from rankplug.store import Store, markdown_table
from rankplug.studies import PROFILES, Evaluation, StudyParameters, evaluate
from rankplug.studies import check_parameters as check_values
from rankplug.system import report_folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankplug.studies import Study

BAR = "\N{DIVIDES}"
SCREEN_SHARE = 96 / 144
"""Width on the screen of a figure's pixels, so that its text is as large as in print."""


class Output:
    """An output of a notebook's cell, with what of a study it shows.

    Args:
        data: content by its media type.
        shows: the study, and the exhibit or that it is the claims.
        options: options of media types, such as a picture's width.
    """

    def __init__(self, data: dict[str, str], shows: dict[str, Any] | None = None, **options: Any) -> None:
        self.data = data
        self.metadata = {**options, **({"rankplug": shows} if shows else {})}
        self.study, self.name = "", ""

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        return self.data, self.metadata

    def _ipython_display_(self) -> None:
        if self.study not in _renewed:
            raise NotImplementedError  # IPython then shows what _repr_mimebundle_ returns.
        from IPython import display

        display.display(self.data, raw=True, metadata=self.metadata, display_id=self.name)  # type: ignore[no-untyped-call]


_renewed: dict[str, dict[str, Callable[[Evaluation], Output]]] = {}
"""Study -> outputs in this notebook by name, and what shows each again; only of studies with controls."""
Show = TypeVar("Show", bound="Callable[..., Output]")


def renewable(show: Show) -> Show:
    """Let controls of a study show an output again, see :func:`controls`."""

    @functools.wraps(show)
    def recorded(evaluation: Evaluation, *options: Any) -> Output:
        output = show(evaluation, *options)
        output.study = evaluation.study
        output.name = " ".join([evaluation.study, show.__name__, *map(str, options)])
        if output.study in _renewed:
            _renewed[output.study][output.name] = lambda other: show(other, *options)
        return output

    return cast("Show", recorded)


def renew_outputs(evaluation: Evaluation) -> None:
    """Show all outputs of a study in this notebook again, where they stand."""
    from IPython import display

    for name, show in list(_renewed.get(evaluation.study, {}).items()):
        output = show(evaluation)
        display.update_display(output.data, raw=True, metadata=output.metadata, display_id=name)  # type: ignore[no-untyped-call]


@renewable
def show(evaluation: Evaluation, exhibit: str) -> Output:
    """Show an exhibit: its figure, or its table, laid out as in the paper if it has published numbers.

    Args:
        evaluation: evaluation of the study, see :func:`rankplug.studies.evaluate`.
        exhibit: name of the exhibit.
    """
    shown = evaluation.exhibit(exhibit)
    words, shows = f"{exhibit}: {shown.title}", {"study": evaluation.study, "exhibit": exhibit}
    if "png" in shown.pictures:
        return _picture(shown.pictures["png"], words, shows)
    return Output({"text/html": numbers_html(shown), "text/plain": words}, shows)


def _picture(content: bytes, words: str = "figure", shows: dict[str, Any] | None = None) -> Output:
    """Return a PNG as a notebook shows it."""
    from PIL import Image

    with Image.open(io.BytesIO(content)) as picture:
        width = round(picture.width * SCREEN_SHARE)
    data = {"image/png": base64.b64encode(content).decode(), "text/plain": words}
    return Output(data, shows, **{"image/png": {"width": width}})


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

    def picture() -> Output:
        from rankplug.plotting import encode_figure, in_style

        with in_style():
            figure = draw(**{name: widget.value for name, widget in zip(controls, widgets, strict=True)})
        return _picture(encode_figure(figure, ["png"])[0]["png"])

    if widgets:
        display.display(ipywidgets.VBox(widgets))  # type: ignore[no-untyped-call]
    first = picture()
    shown = display.display(first.data, raw=True, metadata=first.metadata, display_id=True)  # type: ignore[no-untyped-call]

    def draw_again(change: object) -> None:
        output = picture()
        shown.update(output.data, raw=True, metadata=output.metadata)

    for widget in widgets:
        widget.observe(draw_again, names="value")


@renewable
def show_claims(evaluation: Evaluation) -> Output:
    """Show every claim with its verdict and the evidence."""
    rows = []
    for claim in evaluation.claims:
        exhibit = f"*{claim.exhibit}* " if claim.exhibit else ""
        rows.append((exhibit + claim.label, f"**{claim.judgement.verdict}**", claim.judgement.lines))
    # A bar would end the cell, in formulas too, where it cannot be escaped.
    lines = [markdown_table(("claim", "verdict", "evidence"), rows, BAR)]
    seen = [f"- {observation.text} {observation.seen}" for observation in evaluation.observations]
    if seen:
        lines += ["", "Observed, without a test:", "", *seen]
    shows = {"study": evaluation.study, "claims": True}
    return Output({"text/markdown": "\n".join(lines), "text/plain": f"{len(rows)} claims with their verdicts"}, shows)


@renewable
def show_forest(evaluation: Evaluation) -> Output:
    """Show all claims in one picture, each with its difference in units of the margin that would matter."""
    from rankplug.plotting import encode_figure

    files, _ = encode_figure(forest_of([evaluation]), ["png"])
    return _picture(files["png"], "all claims", {"study": evaluation.study, "forest": True})


def show_findings(study: Study) -> Output:
    """Show known errors and gaps of the paper, and what is done about them."""
    text = "\n".join(f"- {finding}" for finding in study.findings)
    return Output({"text/markdown": text, "text/plain": text})


@renewable
def show_runs(evaluation: Evaluation) -> Output:
    """Return a folded table of what was trained on which data."""
    table = evaluation.runs
    columns = ["model", "loss", "sampler", "fitted by", "data", "transforms", "trials", "folds"]
    used = table[table["used"]] if len(table) else table.reindex(columns=["group", *columns])
    compact = used.groupby(columns, sort=False)["group"].agg(list).reset_index()
    rows = [{"cells": cells, "groups": groups} for *cells, groups in compact.itertuples(index=False)]
    summary = f"{len(compact)} combinations at the profile {evaluation.meta.profile}"
    body = render_macro("folded_runs", summary=summary, columns=[*columns, "group"], rows=rows)
    return Output({"text/html": body, "text/plain": summary})


@renewable
def write_artefact(evaluation: Evaluation, report: str | Path | None = None) -> Output:
    """Write exhibits, verdicts and runs as files into a folder of the report, from which its pages are rendered.

    Args:
        evaluation: of the study.
        report: folder of the report, which gets a folder for the study; by default ``report`` in the project's root,
            or in the working folder where that is no project.
    """
    folder = evaluation.write(Path(report or report_folder()).expanduser() / evaluation.study)
    return Output({"text/plain": f"{len(evaluation.exhibits)} exhibits and {len(evaluation.claims)} claims: {folder}"})


def check_parameters(variables: Mapping[str, Any]) -> None:
    """Raise an error if papermill was given a parameter that the notebook does not have.

    papermill puts a cell with the given values below the cell of the parameters, and only warns of an unknown name.
    Call it in the first cell below the parameters.

    Args:
        variables: those of the notebook, ``globals()``, among which is its history of cells.

    Raises:
        ParameterError: names the parameter and a similar one.
    """
    known: list[str] = []
    for cell in map(str, variables.get("In", ())):
        injected = cell.startswith(INJECTED)
        for name in _assigned(cell):
            if not injected:
                known.append(name)
            elif known and name not in known:
                raise ParameterError(f"the notebook has no parameter {name}: {did_you_mean(name, known)}")


def _assigned(cell: str) -> list[str]:
    """Return the names to which a cell assigns."""
    try:
        statements = ast.parse(cell).body
    except SyntaxError:  # Such as a line with a magic command.
        return []
    targets = [target for each in statements for target in getattr(each, "targets", [getattr(each, "target", None)])]
    return [target.id for target in targets if isinstance(target, ast.Name)]


INJECTED = "# Parameters\n"
"""Begin of the cell that papermill adds."""
SIZES = {
    "smoke": "seconds",
    "quick": "minutes",
    "full": "hours",
    "real": "public collections",
    "paper": "as published, on a cluster",
}
"""Profile -> what to expect of it."""
INTERRUPTED = "interrupted; what is finished is stored, and the button goes on"


def controls(study: Study, parameters: MutableMapping[str, Any]) -> None:
    """Show controls of a study's parameters, and a button that runs it and shows all of it below again.

    Args:
        study: the paper.
        parameters: those of the notebook, as ``globals()``; a run leaves there what was chosen, ``results`` and
            ``evaluation``.
    """
    from IPython import display
    from IPython.core.getipython import get_ipython

    check_parameters(parameters)
    _renewed.setdefault(study.name, {})
    panel = StudyControls(study, parameters)
    display.display(panel.box)  # type: ignore[no-untyped-call]
    if (shell := get_ipython()) is not None:
        shell.events.register("post_run_cell", lambda result: panel.follow())


class StudyControls:
    """Widgets for the parameters of a study.

    Args:
        study: the paper.
        parameters: see :func:`controls`.
    """

    def __init__(self, study: Study, parameters: MutableMapping[str, Any]) -> None:
        import ipywidgets

        self.study, self.parameters = study, parameters
        self.results = parameters.get("results")
        self.initial = check_values(
            {name: parameters[name] for name in StudyParameters.model_fields if name in parameters}
        )
        profiles = [(f"{name} ({SIZES[name]})", name) for name in PROFILES]
        datasets = [plugin.specification.name for plugin in registry().plugins("dataset")]
        self.profile = ipywidgets.Dropdown(options=profiles, value=self.initial.profile, description="profile")
        self.data = ipywidgets.Combobox(
            options=datasets, value=self.initial.data or "", placeholder="the profile's own", description="data"
        )
        self.trials = ipywidgets.BoundedIntText(
            value=self.initial.trials or 0,
            max=10_000,
            description="trials (0: the profile's)",
            style={"description_width": "initial"},
        )
        self.button = ipywidgets.Button(description="run", icon="play", tooltip="run what is missing")
        self.words = ipywidgets.HTML()
        self.output = ipywidgets.Output()
        choices = [self.profile, self.data, self.trials]
        row = ipywidgets.HBox([*choices, self.button], layout=ipywidgets.Layout(flex_flow="row wrap"))
        self.box = ipywidgets.VBox([row, self.words, self.output])
        for widget in choices:
            widget.observe(lambda change: self.show_plan(), names="value")
        self.button.on_click(lambda button: self.run())
        self.show_plan()

    @property
    def selected(self) -> dict[str, Any]:
        """The selected parameters."""
        data = self.data.value.strip() or None
        values = {"profile": self.profile.value, "data": data, "trials": self.trials.value or None}
        return self.initial.model_copy(update=values).model_dump(exclude={"report", "decisions"})

    def show_plan(self) -> None:
        """Show what is to run and about how long it takes."""
        parameters = self.selected
        jobs = parameters.pop("jobs")
        try:
            plan = self.study.plan(**parameters)
            outlook = plan.outlook(Store(parameters["store"]), jobs)
            self._say(f"{plan}: {outlook}" if outlook else f"{plan}")
        except RankplugError as error:
            self._say(str(error))

    def follow(self) -> None:
        """Show again what is to run, if a cell of the notebook has left other results."""
        if self.parameters.get("results") is not self.results:
            self.results = self.parameters["results"]
            self.show_plan()

    def run(self) -> None:
        """Run what is missing, and show everything of the study in this notebook again."""
        self.button.disabled = True
        self.output.clear_output()
        results, message = None, "stopped by the error below; what is finished is stored"
        try:
            # What is raised inside an output is shown there by a kernel, and not raised any further.
            with self.output:
                try:
                    results = self.study.run(**self.selected)
                except RankplugError as error:
                    message = str(error)
                except KeyboardInterrupt:
                    message = INTERRUPTED
            if results is None:
                self._say(message)
                return
            evaluation = evaluate(self.study, results)
            self.parameters.update({**self.selected, "results": results, "evaluation": evaluation})
            self._say("drawing")
            renew_outputs(evaluation)
            self.show_plan()
        except RankplugError as error:
            self._say(str(error))
        except KeyboardInterrupt:
            self._say(INTERRUPTED)
        finally:
            self.button.disabled = False

    def _say(self, words: str) -> None:
        self.words.value = html.escape(words)
