"""The pictures show the numbers they are drawn from, and the notebook's learning curves have every point."""

from __future__ import annotations

import pytest
from rankplug_data import pictures
from rankplug_data.synthetic.features import names_of
from rankplug_data.synthetic.learning_curves import learning_curves

import rankplug as rp


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
