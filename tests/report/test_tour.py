"""The notebook of one combination shows what is true, and refuses wrong parameters before a kernel starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import papermill
import pytest

from rankplug.errors import FitError, ParameterError, RankplugError, UnknownPluginError
from rankplug.report.tour import Tour, TourParameters, check_parameters
from rankplug.system import notebooks_folder

NOTEBOOK = notebooks_folder() / "combination.ipynb"
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


def test_the_notebook_has_every_parameter_with_its_default() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    (cell,) = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    there: dict[str, Any] = {}
    exec(cell.source, there)
    del there["__builtins__"]
    assert check_parameters(there) == TourParameters()
    assert set(there) == set(TourParameters.model_fields)


def test_cells_are_thin() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and "tags" not in cell.metadata]
    assert max(len(cell.source.splitlines()) for cell in code) < 10


@pytest.mark.parametrize(
    ("given", "kind", "sentence"),
    [
        ({"losss": "mse"}, ParameterError, r"no parameter losss: did you mean loss\?"),
        ({"loss": "lamdarank"}, UnknownPluginError, r"did you mean lambdarank"),
        ({"loss": "lambdarank[sgma=1]"}, ParameterError, r"no parameter sgma: did you mean sigma\?"),
        ({"profile": "smok"}, ParameterError, r"did you mean smoke\?"),
        ({"trials": 0}, ParameterError, "trials=0 is not possible"),
        ({"backend": "torch", "scorer": "trees"}, FitError, "torch cannot fit the scorer trees"),
    ],
    ids=str,
)
def test_wrong_parameters_are_told_in_a_sentence(
    given: dict[str, Any], kind: type[RankplugError], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        check_parameters(given)


def test_a_wrong_parameter_stops_papermill_before_a_kernel_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankplug_jupyter.provisioner import ForkedKernelManager

    monkeypatch.setattr(ForkedKernelManager, "__init__", lambda *_, **__: pytest.fail("a kernel was started"))
    with pytest.raises(ParameterError, match=r"no parameter losss: did you mean loss\?"):
        papermill.execute_notebook(
            NOTEBOOK, tmp_path / "out.ipynb", {"losss": "mse"}, engine_name="rankplug", progress_bar=False
        )


def test_a_tour_says_what_is_trained_on_what(tour: Tour) -> None:
    text = tour._repr_markdown_()
    assert "trouble / lightgbm trees[rounds=6,min_data=1] / mse" in text
    assert "| loss | `mse` |" in text and "| scorer | `trees` |" in text and "rounds 6" in text
    data = tour.data()
    assert data.loc["train", ["queries", "documents", "features"]].tolist() == [20, 200, 5]
    assert data.filter(like="label").sum(axis=1).tolist() == pytest.approx([1, 1, 1])


def test_means_and_intervals_are_those_of_the_stored_queries(tour: Tour) -> None:
    values = [tour.store.read(trial).queries["ndcg@5"] for trial in tour.trials]
    assert tour.summary()["ndcg@5"].tolist() == pytest.approx([value.mean() for value in values])
    row = tour.metrics().loc["ndcg@5"]
    assert row["mean"] == pytest.approx(np.mean(values))
    assert row["low"] <= row["mean"] <= row["high"]


def test_worst_and_best_queries_are_at_the_ends(tour: Tour) -> None:
    values = np.sort(tour.results[0].queries["ndcg@5"])
    shown = tour.extremes(3)
    assert shown.loc["worst", "ndcg@5"].tolist() == values[:3].tolist()
    assert shown.loc["best", "ndcg@5"].tolist() == values[-3:].tolist()
    assert (shown["documents"] == 10).all()


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


def test_shares_of_labels_add_up_and_one_that_a_part_lacks_is_zero(tour: Tour) -> None:
    lists = tour.split.valid
    tour.split = tour.split._replace(valid=replace(lists, labels=np.zeros_like(lists.labels)))
    shares = tour.data().filter(like="label ")
    assert not shares.isna().any(axis=None)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert shares.loc["valid", "label 0"] == 1.0 and (shares.loc["valid"].drop("label 0") == 0).all()


def test_the_learning_curve_marks_the_iteration_that_is_kept(tour: Tour) -> None:
    (axes,) = tour.curves().axes
    kept = {line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == ":"}
    assert kept == {result.record["best_iteration"] for result in tour.results}
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["train", "valid", "kept"]
