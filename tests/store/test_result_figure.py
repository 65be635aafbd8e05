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
    points = [line.get_xdata()[0] for line in panel.lines if line.get_marker() == "o"]
    intervals = [line.get_xdata() for line in panel.lines if line.get_linewidth() == 2]
    np.testing.assert_allclose(points, table["mean"])
    np.testing.assert_allclose(intervals, np.clip(table[["low", "high"]], *panel.get_xlim()))
    assert [len(line.get_xdata()) for line in panel.lines if line.get_marker() == "|"] == [3, 3]


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


def test_wide_names_and_many_data_sets_are_drawn_without_a_warning(fill, recwarn, tmp_path_factory):
    crowded = Store(tmp_path_factory.mktemp("crowded"))
    long = "xe_ndcg[gamma_rng=lightgbm,objective_seed=12345]"
    for queries in (600, 700, 800):
        data = f"synthetic[shape=ohsumed,queries={queries},documents=12,noise=0.5,sample=3,test_queries=2500]"
        losses = dict.fromkeys(["mse", "lambdarank", "ranknet", long], 0.1)
        fill(crowded, losses, dataset=data, folds=(1,), trials=2)
    figure = draw_results(crowded, group_by=["loss", "backend", "scorer"])
    figure.savefig(tmp_path_factory.mktemp("figures") / "crowded.png")
    assert not recwarn.list
    widths = [panel.get_position().width * figure.get_size_inches()[0] for panel in figure.axes]
    assert len(widths) == 6 and min(widths) > 1.5


def test_every_model_has_a_colour_of_its_own(fill, store_of_five):
    figure = draw_results(store_of_five, metric="ndcg@5")
    (panel,) = figure.axes
    points = [line for line in panel.lines if line.get_marker() == "o"]
    assert len(points) == 5 == len({line.get_color() for line in points})


def test_the_caption_says_how_many_trials_and_the_axis_stays_where_values_can_be(store_of_five):
    figure = draw_results(store_of_five, metric="ndcg@5")
    assert figure.get_supxlabel() == "means of 2 to 5 trials with 95% intervals"
    (panel,) = figure.axes
    left, right = panel.get_xlim()
    table = results(store_of_five, metric="ndcg@5", group_by="loss")
    assert 0 <= left < table["mean"].min() and table["mean"].max() < right <= 1
    assert table["low"].min() < left or table["high"].max() > right
    assert any(line.get_marker() in "<>" for line in panel.lines)


@pytest.fixture
def store_of_five(fill, tmp_path) -> Store:
    """Make a store of five losses, of which one has five trials and the others two that differ much."""
    made = Store(tmp_path / "five")
    fill(made, dict.fromkeys(["mse", "ranknet", "xe_ndcg", "approx_ndcg"], 0.0), folds=(1,), trials=2)
    fill(made, {"lambdarank": 0.2}, folds=(1,), trials=5)
    return made
