"""The notebook of one combination shows what is true, and refuses wrong parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import papermill
import pytest

from rankplug.errors import FitError
from rankplug.report.tour import Tour
from rankplug.system import notebooks_folder

TINY: dict[str, Any] = {
    "dataset": "trouble",
    "scorer": "trees[rounds=6,min_data=1]",
    "loss": "mse",
    "metrics": ["mrr", "ndcg@5"],
    "progress": False,
}


@pytest.fixture
def tour(trouble: Path, tmp_path: Path) -> Tour:
    made = Tour({**TINY, "trials": 2, "store": str(tmp_path), "something": "else"})
    made.run()
    return made


@pytest.mark.parametrize(
    ("notebook", "given", "sentence"),
    [
        ("combination", {"los": "urank"}, "no parameter los: did you mean loss?"),
        ("xendcg", {"profile": "smoke", "trails": 3}, "no parameter trails: did you mean trials?"),
    ],
)
def test_plain_papermill_refuses_a_misspelt_parameter(
    notebook: str, given: dict[str, Any], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKPLUG_RESULTS", str(tmp_path / "results"))
    source = notebooks_folder() / f"{notebook}.ipynb"
    with pytest.raises(papermill.PapermillExecutionError) as caught:
        papermill.execute_notebook(source, tmp_path / "out.ipynb", given, progress_bar=False)
    assert caught.value.ename == "ParameterError" and sentence in caught.value.evalue
    assert not list((tmp_path / "results").rglob("*.parquet"))


def test_means_and_intervals_are_those_of_the_stored_queries(tour: Tour) -> None:
    values = [tour.store.read(trial).queries["ndcg@5"] for trial in tour.trials]
    assert tour.summary()["ndcg@5"].tolist() == pytest.approx([value.mean() for value in values])
    row = tour.metrics().loc["ndcg@5"]
    assert row["mean"] == pytest.approx(np.mean(values))
    assert row["low"] <= row["mean"] <= row["high"]


def test_the_feature_that_makes_the_labels_matters_most(tour: Tour) -> None:
    importance = tour.importance()
    assert importance.idxmax() == 1
    assert importance[1] > 3 * importance[2:].abs().max()
    assert tour.draw_importance(3).axes[0].get_yticklabels()[-1].get_text() == "1"
    assert len(tour.curves().axes[0].lines) == 3  # training, validation and the iteration that is kept


def test_a_second_visit_reads_what_the_first_one_stored(tour: Tour, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankplug.report.tour.run_trial", lambda *_: pytest.fail("a trial ran again"))
    again = Tour({**TINY, "trials": 2, "store": str(tour.store.folder)})
    assert again.run()["ndcg@5"].tolist() == tour.summary()["ndcg@5"].tolist()


def test_failed_trials_are_recorded_and_end_the_tour(trouble: Path, tmp_path: Path) -> None:
    failing = Tour({**TINY, "dataset": "trouble[how=raise]", "trials": 2, "store": str(tmp_path)})
    with pytest.raises(FitError, match=r"(?s)2 of 2 trials failed.*ValueError: trouble was asked for"):
        failing.run()
    assert len(failing.store.failures()) == 2
