"""The figure of results shows every group's mean and interval, the best on top."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.store import Store, draw_results, results


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Make a store of two losses on one data set, three trials each."""
    store = Store(tmp_path_factory.mktemp("results"))
    grid = {"loss": ["mse", "xe_ndcg"], "backend": "lightgbm", "scorer": "trees[rounds=3,leaves=4]"}
    rp.sweep(grid, data="synthetic[queries=40]", trials=3, store=store, metrics=["ndcg@5", "ndcg@1"], progress=False)
    return store


def test_points_and_intervals_are_those_of_the_table(store):
    (panel,) = draw_results(store, metric="ndcg@5").axes
    table = results(store, metric="ndcg@5", group_by="loss").sort_values("mean")
    points = [line.get_xdata()[0] for line in panel.lines if line.get_marker() == "o"]
    intervals = [line.get_xdata() for line in panel.lines if line.get_linewidth() == 2]
    np.testing.assert_allclose(points, table["mean"])
    np.testing.assert_allclose(intervals, np.clip(table[["low", "high"]], *panel.get_xlim()))
    assert [len(line.get_xdata()) for line in panel.lines if line.get_marker() == "|"] == [3, 3]


def test_the_command_draws_into_a_file(store, tmp_path):
    target = tmp_path / "figures" / "losses.png"
    printed = CliRunner().invoke(app, ["results", "--store", str(store.folder), "--plot", str(target)])
    assert printed.exit_code == 0 and printed.output == f"drew {target}\n"
    assert target.read_bytes().startswith(b"\x89PNG")
    refused = CliRunner().invoke(app, ["results", "--store", str(store.folder), "--plot", str(tmp_path / "x.words")])
    assert "cannot draw into" in str(refused.exception) and "words" in str(refused.exception)
