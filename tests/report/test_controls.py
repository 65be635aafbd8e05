"""Controls of a paper's notebook say what a run takes, run it, and show what stands below anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import IPython.display
import ipywidgets
import pandas as pd
import pytest

from rankplug.errors import RankplugError
from rankplug.report import controls, show
from rankplug.report.controls import StudyControls
from rankplug.studies import Exhibit, Results, Runs, Study, evaluate

MODELS = {"one": {"loss": "mse"}}


def runs(profile: str, data: str | None) -> list[Runs]:
    shared = {"dataset": data or "synthetic[queries=20,documents=5]", "backend": "lightgbm",
              "scorer": "trees[rounds=2,leaves=2,min_data=1]", "metrics": ["ndcg@5"]}  # fmt: skip
    return [Runs("group", MODELS, shared, trials={"smoke": 1}.get(profile, 3))]


def counted(results: Results) -> tuple[pd.DataFrame, None]:
    return pd.DataFrame({"trials": [len(results.records)]}), None


TABLE = Exhibit("Table 1", "Trials", counted)
STUDY = Study("counted", "A study", "nobody", "rankplug:none.ipynb", runs, (TABLE,), (), pd.DataFrame)


class Screen:
    """Takes down what is displayed, by its name where it has one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown: dict[str, str] = {}
        self.boxes: list[Any] = []
        monkeypatch.setattr(IPython.display, "display", self.display)
        monkeypatch.setattr(IPython.display, "update_display", self.display)

    def display(self, thing: Any, display_id: str = "", **_: Any) -> None:
        if display_id:
            self.shown[display_id] = thing["text/html"]
        else:
            self.boxes.append(thing)


@pytest.fixture
def notebook(tmp_path: Path) -> dict[str, Any]:
    return {"profile": "smoke", "data": None, "trials": None, "seed": 0, "jobs": 1, "store": str(tmp_path), "other": 1}


def test_a_run_shows_outputs_anew_where_they_stand_and_leaves_its_results(
    notebook: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen(monkeypatch)
    controls(STUDY, notebook)
    evaluation = evaluate(STUDY, STUDY.run("smoke", store=notebook["store"], progress=False))
    show(evaluation, "Table 1")._ipython_display_()
    (name,) = screen.shown
    assert ">1<" in screen.shown[name]
    panel = StudyControls(STUDY, notebook)
    panel.trials.value = 2
    assert "1 to run, 1 done: about" in panel.words.value
    panel.button.click()
    assert list(screen.shown) == [name] and ">2<" in screen.shown[name]
    assert panel.words.value == "0 to run, 2 done" and not panel.button.disabled
    assert (notebook["trials"], len(notebook["results"].records), notebook["other"]) == (2, 2, 1)


def test_the_controls_say_what_is_left_once_a_cell_of_the_notebook_has_run_it(notebook: dict[str, Any]) -> None:
    panel = StudyControls(STUDY, notebook)
    notebook["results"] = STUDY.run("smoke", store=notebook["store"], progress=False)
    assert panel.words.value.startswith("1 to run, 0 done")
    panel.follow()
    assert panel.words.value == "0 to run, 1 done"


def test_what_is_not_possible_is_said_and_changes_nothing(notebook: dict[str, Any]) -> None:
    panel = StudyControls(STUDY, notebook)
    assert panel.words.value.startswith("1 to run, 0 done: nothing like this has run here")
    panel.data.value = "synthetic[queries=<b>]"
    assert "not possible" in panel.words.value and "<b>" not in panel.words.value
    panel.button.click()
    assert "not possible" in panel.words.value and not panel.button.disabled and notebook["data"] is None


def test_an_interrupted_run_says_that_what_is_finished_is_kept(
    notebook: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = StudyControls(STUDY, notebook)

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Study, "run", interrupted)
    panel.button.click()
    assert panel.words.value.startswith("interrupted") and not panel.button.disabled


@pytest.mark.parametrize(
    ("error", "said"),
    [(KeyboardInterrupt(), "interrupted"), (RankplugError("no such thing"), "no such thing"),
     (ValueError("unforeseen"), "stopped by the error below")],
)  # fmt: skip
def test_in_a_kernel_whose_outputs_take_errors_in_a_run_that_ends_early_is_told(
    error: BaseException, said: str, notebook: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There an output shows what is raised inside of it, and the lines after it are run."""
    monkeypatch.setattr(ipywidgets.Output, "__exit__", lambda *_: True)

    def ends_early(*_: Any, **__: Any) -> None:
        raise error

    panel = StudyControls(STUDY, notebook)
    monkeypatch.setattr(Study, "run", ends_early)
    panel.button.click()
    assert panel.words.value.startswith(said) and not panel.button.disabled and "results" not in notebook


def test_without_controls_an_output_is_the_cells_own(notebook: dict[str, Any]) -> None:
    alone = replace(STUDY, name="alone")
    output = show(evaluate(alone, alone.run("smoke", store=notebook["store"], progress=False)), "Table 1")
    with pytest.raises(NotImplementedError):  # by which IPython takes the other way
        output._ipython_display_()
    assert ">1<" in output._repr_mimebundle_()[0]["text/html"]
