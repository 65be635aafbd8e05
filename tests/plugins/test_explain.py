"""Features that decide the order are reported as important, others are not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.errors import DataError

BACKENDS = {
    "lightgbm": "trees[rounds=20,leaves=7,min_data=5]",
    "xgboost": "trees[rounds=20,leaves=7]",
    "lbfgs[iterations=30]": None,
}


@pytest.fixture(scope="module")
def lists() -> rp.Lists:
    """Make lists whose labels follow the second feature; the third is the same for all documents of a query."""
    generator = np.random.default_rng(0)
    features = generator.normal(size=(600, 4)).astype(np.float32)
    features[:, 2] = np.repeat(generator.normal(size=60) * 9, 10)
    labels = np.clip(np.round(features[:, 1] + 0.3 * features[:, 3] + 1), 0, 4)
    named = rp.Lists(features, labels, np.arange(0, 601, 10), feature_names=("noise", "bm25", "query", "age"))
    return named


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["shap", "permutation"])
def test_what_labels_follow_comes_first_and_what_queries_share_last(lists, backend, method) -> None:
    pytest.importorskip(backend.partition("[")[0].replace("lbfgs", "scipy"))
    model = rp.fit(backend, scorer=BACKENDS[backend], loss="mse", train=lists)
    if method == "shap" and backend.startswith("lbfgs"):
        with pytest.raises(DataError, match="has no trees, whose SHAP values"):
            rp.explain(model, lists, method="shap")
        return
    found = rp.explain(model, lists, method=method)
    assert found["feature"][:2].tolist() == ["bm25", "age"] and found.attrs["method"] == method
    assert (found["low"] <= found["importance"]).all() and found["low"][0] > found["high"][2]
    if method == "permutation":
        # Permuted inside its queries it is what it was.
        assert found.set_index("feature").loc["query", "importance"] == 0.0


def test_distances_are_those_of_the_engines_values_from_their_querys_mean(lists) -> None:
    lgb = pytest.importorskip("lightgbm")
    model = rp.fit("lightgbm", scorer=BACKENDS["lightgbm"], loss="mse", train=lists)
    booster = lgb.Booster(model_str=model.encode(".txt").decode())
    values = booster.predict(lists.features, pred_contrib=True)
    assert np.allclose(values.sum(axis=1), model.predict(lists))
    expected = [
        np.mean([np.abs(values[begin : begin + 10, place] - values[begin : begin + 10, place].mean()).mean()
                 for begin in range(0, 600, 10)]) for place in range(4)
    ]  # fmt: skip
    found = rp.explain(model, lists).set_index("feature")["importance"]
    assert found[list(lists.feature_names)].to_numpy() == pytest.approx(expected)


def test_the_command_tells_and_draws(tmp_path) -> None:
    pytest.importorskip("lightgbm")
    file = tmp_path / "model.txt"
    words = ["train", "synthetic[queries=20,documents=6]", "--loss", "mse", "--out", str(file)]
    assert CliRunner().invoke(app, [*words, "--scorer", "trees[rounds=3,leaves=4,min_data=1]"]).exit_code == 0
    words = ["explain", str(file), "--top", "3", "-o", str(tmp_path / "picture.png")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0 and "shap, in units of score" in done.output
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    told = json.loads(CliRunner().invoke(app, ["explain", str(file), "--json"]).output)
    assert len(told["features"]) == 136 and told["queries"] == 4
