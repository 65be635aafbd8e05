"""The pictures show the numbers they are drawn from, and the notebook's learning curves have every point."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from rankplug_data import pictures
from rankplug_data.mslr_sample import NAME, mslr_sample, where_it_is_looked_for
from rankplug_data.synthetic.features import names_of
from rankplug_data.synthetic.learning_curves import learning_curves

import rankplug as rp

BESIDE = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture(autouse=True, scope="module")
def _no_window():
    import matplotlib

    matplotlib.use("agg")


@pytest.fixture(scope="module")
def collections():
    return {
        "few": rp.load("synthetic[queries=40,documents=20]").train,
        "many": rp.load("synthetic[queries=200,documents=40]").train,
    }


def heights(axes):
    """Return heights of all bars of a histogram's outlines or of bars, added up by artist."""
    return [sum(bar.get_height() for bar in container) for container in axes.containers]


def test_label_shares_add_up_to_100_percent(collections):
    axes = pictures.draw_label_shares(collections).axes[0]
    assert heights(axes) == pytest.approx([100, 100])
    assert "%" in axes.get_ylabel()
    shares = np.bincount(collections["many"].labels.astype(int)) / collections["many"].documents
    assert [bar.get_height() for bar in axes.containers[1]] == pytest.approx(list(100 * shares))


def test_lengths_and_features_are_histograms(collections):
    lengths = pictures.draw_list_lengths(collections).axes[0]
    columns = {name: number for number, name in enumerate(names_of("mslr")[:5])}
    features = pictures.draw_features(collections, columns)
    visible = [axes for axes in features.axes if axes.get_visible()]
    assert len(visible) == 5
    for axes in [lengths, *visible]:
        for outline in axes.patches:
            corners = outline.get_xy()
            tops = corners[1:-1:2, 1][: (len(corners) - 1) // 2]
            assert sum(tops) == pytest.approx(100.0)


@pytest.mark.slow
def test_learning_curves_lie_between_chance_and_the_oracle():
    curves = learning_curves("synthetic[queries=60,documents=20]", [10, 36], measure="ndcg@5", loss="ranknet")
    points = curves.dropna()
    assert [tuple(row) for row in points[["model", "queries"]].to_numpy()] == [
        (model, size) for model in ("linear", "trees", "network") for size in (10, 36)
    ]
    ends = curves[curves["queries"].isna()].set_index("model")["value"]
    assert ends["chance"] < points["value"].mean() < ends["oracle"] < 1.0
    assert (curves["half width"] > 0).all()
    axes = pictures.draw_learning_curves(curves, "ndcg@5").axes[0]
    assert [line.get_label() for line in axes.lines] == ["linear", "trees", "network", "oracle", "chance"]
    assert axes.lines[1].get_ydata() == pytest.approx(points[points["model"] == "trees"]["value"].to_numpy())


def test_the_sample_of_mslr_is_found_where_there_is_one(monkeypatch, tmp_path):
    folders = [Path(folder) for folder in os.environ.get("RANKPLUG_DATA", "").split(os.pathsep) if folder]
    holding = next((folder for folder in [*folders, BESIDE] if (folder / f"{NAME}.tar.xz").is_file()), None)
    if holding is None:
        pytest.skip(f"{NAME}.tar.xz is neither in RANKPLUG_DATA nor in {BESIDE}")
    monkeypatch.setenv("RANKPLUG_DATA", str(holding))
    monkeypatch.setenv("RANKPLUG_CACHE", str(tmp_path))
    sample = mslr_sample()
    assert (len(sample), sample.documents, sample.features.shape[1]) == (86, 10_000, 136)
    assert mslr_sample().fingerprint == sample.fingerprint


def test_without_a_sample_it_says_where_it_looked(monkeypatch, tmp_path):
    monkeypatch.setenv("RANKPLUG_DATA", str(tmp_path))
    assert mslr_sample() is None
    assert str(tmp_path) in where_it_is_looked_for()
    monkeypatch.delenv("RANKPLUG_DATA")
    assert "RANKPLUG_DATA is not set" in where_it_is_looked_for()
