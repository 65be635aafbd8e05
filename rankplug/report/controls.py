"""Controls at the top of a paper's notebook, for readers who do not edit code: profile, data, trials, and a button."""

from __future__ import annotations

import html
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from rankplug.errors import RankplugError
from rankplug.registry import registry
from rankplug.report.display import let_renew, renew_outputs
from rankplug.store import Store
from rankplug.studies import PROFILES, StudyParameters, evaluate
from rankplug.studies import check_parameters as check

if TYPE_CHECKING:
    from rankplug.studies import Results, Study

SIZES = {
    "smoke": "seconds",
    "quick": "minutes",
    "full": "hours",
    "real": "public collections",
    "paper": "as published, on a cluster",
}
"""Profile -> what to expect of it."""
INTERRUPTED = "interrupted; what is finished is kept, and the button goes on"


def controls(study: Study, parameters: MutableMapping[str, Any]) -> None:
    """Show controls of a study's parameters, and a button that runs it and shows all of it below anew.

    Args:
        study: the paper.
        parameters: those of the notebook, as ``globals()``; a run leaves there what was chosen, ``results`` and
            ``evaluation``.
    """
    from IPython import display
    from IPython.core.getipython import get_ipython

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
        self.given = check({name: parameters[name] for name in StudyParameters.model_fields if name in parameters})
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
        return self.given.model_copy(update=chosen).model_dump()

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
        """Say anew what is to run, if a cell of the notebook has left other results."""
        if self.parameters.get("results") is not self.seen:
            self.seen = self.parameters["results"]
            self.tell()

    def run(self) -> None:
        """Run what is missing, and show everything of the study in this notebook anew."""
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
        said = "stopped by the error below; what is finished is kept"
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
