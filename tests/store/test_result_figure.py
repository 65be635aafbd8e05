"""The figure of results shows every group's mean and interval, the best on top."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.store import ResultsError, Store, draw_results, results


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Store:
    """Make a store of two losses on one data set, three trials each."""
    store = Store(tmp_path_factory.mktemp("results"))
    grid = {"loss": ["mse", "xe_ndcg"], "backend": "lightgbm", "scorer": "trees[rounds=3,leaves=4]"}
    rp.sweep(grid, data="synthetic[queries=40]", trials=3, store=store, metrics=["ndcg@5", "ndcg@1"], progress=False)
    return store


def test_groups_are_what_differs_and_the_best_stands_on_top(store):
    figure = draw_results(store, metric="ndcg@5")
    (panel,) = figure.axes
    means = results(store, metric="ndcg@5", group_by="loss").set_index("loss")["mean"]
    assert [label.get_text() for label in panel.get_yticklabels()] == list(means.sort_values().index)
    assert figure.get_supxlabel() == "means of 3 trials with 95% intervals"


def test_points_and_intervals_are_those_of_the_table(store):
    (panel,) = draw_results(store, metric="ndcg@5").axes
    table = results(store, metric="ndcg@5", group_by="loss").sort_values("mean")
    drawn = [line.get_xdata() for line in panel.lines]
    np.testing.assert_allclose([xs[0] for xs in drawn[2::3]], table["mean"])
    np.testing.assert_allclose([list(xs) for xs in drawn[1::3]], table[["low", "high"]])
    assert [len(xs) for xs in drawn[0::3]] == [3, 3]


def test_each_metric_has_a_panel(store):
    assert [panel.get_xlabel() for panel in draw_results(store, group_by=["loss"]).axes] == ["ndcg@1", "ndcg@5"]


def test_nothing_to_draw_is_an_error_in_a_sentence(tmp_path):
    with pytest.raises(ResultsError, match="there is no result to draw"):
        draw_results(Store(tmp_path))


def test_the_command_draws_into_a_file(store, tmp_path):
    target = tmp_path / "figures" / "losses.png"
    printed = CliRunner().invoke(app, ["results", "--store", str(store.folder), "--plot", str(target)])
    assert printed.exit_code == 0 and printed.output == f"drew {target}\n"
    assert target.read_bytes().startswith(b"\x89PNG")
    refused = CliRunner().invoke(app, ["results", "--store", str(store.folder), "--plot", str(tmp_path / "x.words")])
    assert "cannot draw into" in str(refused.exception) and "words" in str(refused.exception)
