"""Cells of a notebook: figures follow their controls, a run shows outputs again and writes the artefact again."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import IPython.display
import ipywidgets
import matplotlib.pyplot as plt
import pandas as pd
import pytest

from rankplug.errors import ParameterError, RankplugError
from rankplug.report import check_parameters, controls, live, show, write_artefact
from rankplug.report.display import StudyControls
from rankplug.studies import Evaluation, Exhibit, Results, Runs, Study, evaluate


class Screen:
    """Records what is displayed: updates and outputs with a name by that, other things in a list."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.named: dict[Any, str] = {}
        self.others: list[Any] = []
        self.updates: list[Any] = []
        monkeypatch.setattr(IPython.display, "display", self.display)
        monkeypatch.setattr(IPython.display, "update_display", self.display)

    def display(self, thing: Any, display_id: str | bool = "", **_: Any) -> Screen:
        if isinstance(display_id, str) and display_id:
            self.named[display_id] = thing.get("text/html", thing["text/plain"])
        else:
            self.others.append(thing)
        return self

    def update(self, thing: Any, **_: Any) -> None:
        self.updates.append(thing)


def test_a_figure_is_drawn_again_when_a_control_moves(monkeypatch):
    screen = Screen(monkeypatch)
    drawn, before = [], plt.get_fignums()

    def draw(beta, loss="plain"):
        drawn.append((beta, loss))
        return plt.subplots(figsize=(1, 1))[0]

    slider = ipywidgets.FloatSlider(value=1.0, max=4.0)
    live(draw, beta=slider, loss=["plain", "other"])
    box, picture = screen.others
    assert base64.b64decode(picture["image/png"])[:4] == b"\x89PNG"
    assert drawn == [(1.0, "plain")] and not screen.updates
    slider.value = 2.5
    box.children[1].value = "other"
    assert drawn[1:] == [(2.5, "plain"), (2.5, "other")]
    assert len(screen.updates) == 2 and plt.get_fignums() == before


MODELS = {"one": {"loss": "mse"}}


def runs(profile: str, data: str | None) -> list[Runs]:
    shared = {"dataset": data or "synthetic[queries=20,documents=5]", "backend": "lightgbm",
              "scorer": "trees[rounds=2,leaves=2,min_data=1]", "metrics": ["ndcg@5"]}  # fmt: skip
    return [Runs("group", MODELS, shared, trials={"smoke": 1}.get(profile, 3))]


def counted(results: Results) -> tuple[pd.DataFrame, None]:
    return pd.DataFrame({"trials": [len(results.records)]}), None


TABLE = Exhibit("Table 1", "Trials", counted)
STUDY = Study("counted", "A study", "nobody", "rankplug:none.ipynb", runs, (TABLE,), (), pd.DataFrame)


@pytest.fixture
def notebook(tmp_path: Path) -> dict[str, Any]:
    return {"profile": "smoke", "data": None, "trials": None, "seed": 0, "jobs": 1, "store": str(tmp_path), "other": 1}


def test_a_run_shows_and_writes_everything_again(
    notebook: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    screen = Screen(monkeypatch)
    controls(STUDY, notebook)
    evaluation = evaluate(STUDY, STUDY.run("smoke", store=notebook["store"], progress=False))
    show(evaluation, "Table 1")._ipython_display_()
    (name,) = screen.named
    assert ">1<" in screen.named[name]
    write_artefact(evaluation, tmp_path / "report")._ipython_display_()
    assert Evaluation.read(tmp_path / "report" / "counted").exhibit("Table 1").table["trials"].tolist() == [1]
    panel = StudyControls(STUDY, notebook)
    panel.trials.value = 2
    assert "1 to run, 1 done: about" in panel.words.value
    panel.button.click()
    assert next(iter(screen.named)) == name and ">2<" in screen.named[name]
    assert Evaluation.read(tmp_path / "report" / "counted").exhibit("Table 1").table["trials"].tolist() == [2]
    assert panel.words.value == "0 to run, 2 done" and not panel.button.disabled
    assert (notebook["trials"], len(notebook["results"].records), notebook["other"]) == (2, 2, 1)


def test_controls_follow_what_a_cell_has_run(notebook: dict[str, Any]) -> None:
    panel = StudyControls(STUDY, notebook)
    notebook["results"] = STUDY.run("smoke", store=notebook["store"], progress=False)
    assert panel.words.value.startswith("1 to run, 0 done")
    panel.follow()
    assert panel.words.value == "0 to run, 1 done"


def test_an_impossible_choice_is_said_and_changes_nothing(notebook: dict[str, Any]) -> None:
    panel = StudyControls(STUDY, notebook)
    assert panel.words.value.startswith("1 to run, 0 done: first run")
    panel.data.value = "synthetic[queries=<b>]"
    assert "not possible" in panel.words.value and "<b>" not in panel.words.value
    panel.button.click()
    assert "not possible" in panel.words.value and not panel.button.disabled and notebook["data"] is None


@pytest.mark.parametrize(
    ("error", "said"),
    [(KeyboardInterrupt(), "interrupted"), (RankplugError("no such thing"), "no such thing"),
     (ValueError("unforeseen"), "stopped by the error below")],
)  # fmt: skip
def test_a_run_that_ends_early_says_why(
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


@pytest.mark.parametrize(
    ("cells", "error"),
    [
        (["", "loss = 'mse'", "# Parameters\nlos = 'urank'\n", "import x"], "no parameter los: did you mean loss"),
        (["", "loss: str = 'mse'", "# Parameters\nloss = 'urank'\n"], ""),
        (["", "loss = 'mse'", "los = 'mine'"], ""),
        (["", "# Parameters\nloss = 'urank'\n"], ""),
    ],
)
def test_injected_parameters_are_compared_with_the_declared(cells: list[str], error: str) -> None:
    if not error:
        check_parameters({"In": cells})
        return
    with pytest.raises(ParameterError, match=error):
        check_parameters({"In": cells})
