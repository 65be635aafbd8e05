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
from rankplug.report.exhibit_tables import numbers_html, unlinked
from rankplug.report.forest import forest_of
from rankplug.report.rendering import render_macro
from rankplug.store import Store, markdown_table
from rankplug.studies import PROFILES, Evaluation, StudyParameters, evaluate
from rankplug.studies import check_parameters as check_values
from rankplug.system import report_folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankplug.studies import Results, Study

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


_renewed: dict[str, dict[str, Callable[[Evaluation], Output]]] = {}
"""Study -> outputs in this notebook by name, and what shows each again; only of studies with controls."""
Show = TypeVar("Show", bound="Callable[..., Output]")


def renewable(show: Show) -> Show:
    """Let controls of a study show an output again, see :func:`controls`."""

    @functools.wraps(show)
    def shown(evaluation: Evaluation, *about: Any) -> Output:
        output = show(evaluation, *about)
        output.study = evaluation.study
        output.name = " ".join([evaluation.study, show.__name__, *map(str, about)])
        if output.study in _renewed:
            _renewed[output.study][output.name] = lambda other: show(other, *about)
        return output

    return cast("Show", shown)


def let_renew(study: Study) -> None:
    """Record what is shown of a study from now on, so that :func:`renew_outputs` finds it."""
    _renewed.setdefault(study.name, {})


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
        evaluation: of the study, see :func:`rankplug.studies.evaluate`.
        exhibit: its name.
    """
    shown = evaluation.exhibit(exhibit)
    shows = {"study": evaluation.study, "exhibit": exhibit}
    words = f"{exhibit}: {shown.title}"
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
    data, options = _drawn(forest_of([evaluation]))
    shows = {"study": evaluation.study, "forest": True}
    return Output({**data, "text/plain": "all claims"}, shows, **options)


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


INJECTED = "# Parameters\n"
"""Begin of the cell that papermill adds."""


def _assigned(cell: str) -> list[str]:
    """Return the names to which a cell assigns."""
    try:
        statements = ast.parse(cell).body
    except SyntaxError:  # Such as a line with a magic command.
        return []
    targets = (target for each in statements if isinstance(each, ast.Assign) for target in each.targets)
    annotated = (each.target for each in statements if isinstance(each, ast.AnnAssign))
    return [target.id for target in (*targets, *annotated) if isinstance(target, ast.Name)]


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
    let_renew(study)
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
        self.seen = parameters.get("results")
        self.given = check_values(
            {name: parameters[name] for name in StudyParameters.model_fields if name in parameters}
        )
        profiles = [(f"{name} ({SIZES[name]})", name) for name in PROFILES]
        self.profile = ipywidgets.Dropdown(options=profiles, value=self.given.profile, description="profile")
        self.data = ipywidgets.Combobox(
            options=[plugin.specification.name for plugin in registry().plugins("dataset")],
            value=self.given.data or "",
            placeholder="the profile's own",
            description="data",
        )
        self.trials = ipywidgets.BoundedIntText(
            value=self.given.trials or 0,
            min=0,
            max=10_000,
            description="trials (0: the profile's)",
            style={"description_width": "initial"},
        )
        self.button = ipywidgets.Button(description="run", icon="play", tooltip="run what is missing")
        self.words = ipywidgets.HTML()
        self.output = ipywidgets.Output()
        chosen = [self.profile, self.data, self.trials, self.button]
        row = ipywidgets.HBox(chosen, layout=ipywidgets.Layout(flex_flow="row wrap"))
        self.box = ipywidgets.VBox([row, self.words, self.output])
        for widget in chosen[:-1]:
            widget.observe(lambda change: self.tell(), names="value")
        self.button.on_click(lambda button: self.run())
        self.tell()

    @property
    def asked(self) -> dict[str, Any]:
        """The parameters as they are chosen now."""
        data = self.data.value.strip() or None
        chosen = {"profile": self.profile.value, "data": data, "trials": self.trials.value or None}
        return self.given.model_copy(update=chosen).model_dump(exclude={"report", "decisions"})

    def tell(self) -> None:
        """Say what is to run and about how long it takes."""
        asked = self.asked
        jobs = asked.pop("jobs")
        try:
            plan = self.study.plan(**asked)
            outlook = plan.outlook(Store(asked["store"]), jobs)
            self._say(f"{plan}: {outlook}" if outlook else f"{plan}")
        except RankplugError as error:
            self._say(str(error))

    def follow(self) -> None:
        """Say again what is to run, if a cell of the notebook has left other results."""
        if self.parameters.get("results") is not self.seen:
            self.seen = self.parameters["results"]
            self.tell()

    def run(self) -> None:
        """Run what is missing, and show everything of the study in this notebook again."""
        self.button.disabled = True
        self.output.clear_output()
        try:
            if (results := self._results()) is None:
                return
            evaluation = evaluate(self.study, results)
            self.parameters.update({**self.asked, "results": results, "evaluation": evaluation})
            self._say("drawing")
            renew_outputs(evaluation)
            self.tell()
        except RankplugError as error:
            self._say(str(error))
        except KeyboardInterrupt:
            self._say(INTERRUPTED)
        finally:
            self.button.disabled = False

    def _results(self) -> Results | None:
        """Run what is missing with its progress below; nothing where that ended early, which is said."""
        said = "stopped by the error below; what is finished is stored"
        # What is raised inside an output is shown there by a kernel, and not raised any further.
        with self.output:
            try:
                return self.study.run(**self.asked)
            except RankplugError as error:
                said = str(error)
            except KeyboardInterrupt:
                said = INTERRUPTED
        self._say(said)
        return None

    def _say(self, words: str) -> None:
        self.words.value = html.escape(words)
