"""Models in other programs' formats rank every list as the model itself; so do compiled ones."""

from __future__ import annotations

import itertools
import json
from xml.etree import ElementTree

import numpy as np
import pytest

import rankplug as rp

TREES = "trees[rounds=20,leaves=15,min_data=5]"
MODELS = {
    "lightgbm": {"backend": "lightgbm", "scorer": TREES},
    "lightgbm dart": {"backend": "lightgbm", "scorer": "trees[rounds=10,leaves=7,boosting=dart]"},
    "xgboost": {"backend": "xgboost", "scorer": TREES},
    "xgboost dart": {"backend": "xgboost", "scorer": "trees[rounds=10,leaves=7,boosting=dart,drop_rate=0.5]"},
    "xgboost linear": {"backend": "xgboost", "scorer": "linear[rounds=5]"},
    "xgboost native": {"backend": "xgboost[native=true]", "scorer": TREES, "loss": "lambdarank"},
    "lbfgs": {"backend": "lbfgs[iterations=20]"},
    "lbfgs standard": {"backend": "lbfgs[iterations=20,scaling=standard]"},
    "lbfgs plain": {"backend": "lbfgs[iterations=20,scaling=none]"},
    "torch linear": {"backend": "torch[epochs=3,lr=0.01]", "scorer": "linear"},
    "torch mlp": {
        "backend": "torch[epochs=2]",
        "scorer": "mlp[layers=(8,4),activation=elu,batch_norm=true,input_batch_norm=true,dropout=0.2]",
    },
}
OF_TREES = ["lightgbm", "lightgbm dart", "xgboost", "xgboost dart", "xgboost native"]


@pytest.fixture(scope="module")
def split() -> rp.Split:
    return rp.load("synthetic[queries=60,documents=12]")


@pytest.fixture(scope="module")
def fitted(split):
    models: dict[str, rp.Model] = {}

    def fit(name: str) -> rp.Model:
        if name not in models:
            given = {"loss": "mse", **MODELS[name]}
            pytest.importorskip(given["backend"].partition("[")[0].replace("lbfgs", "scipy"))
            models[name] = rp.fit(given.pop("backend"), train=split.train, valid=split.valid, **given)
        return models[name]

    return fit


def with_holes(lists: rp.Lists) -> np.ndarray:
    """Return features of which some are missing, and others lie just on a threshold."""
    features = lists.features.copy()
    features[np.random.default_rng(1).random(features.shape) < 0.1] = np.nan
    return features


def same_order(found: np.ndarray, scores: np.ndarray, starts: np.ndarray) -> None:
    """Fail where documents of a list change places, unless single precision cannot tell them apart."""
    tolerance = 1e-5 * max(1.0, float(np.abs(scores).max()))
    assert np.abs(found - scores).max() <= tolerance
    for begin, end in itertools.pairwise(starts):
        by_found = scores[begin:end][np.argsort(-found[begin:end], kind="stable")]
        assert (np.diff(by_found) <= 2 * tolerance).all()


@pytest.mark.parametrize("name", MODELS)
def test_onnxruntime_ranks_alike(fitted, split, tmp_path, name) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    model, test = fitted(name), split.test
    session = onnxruntime.InferenceSession(str(model.export(tmp_path / "model.onnx")))
    features = with_holes(test) if name in (*OF_TREES, "xgboost linear") else test.features
    (found,) = session.run(["scores"], {"features": features})
    scores = model.predict(features)
    assert found.shape == scores.shape
    same_order(found.astype(np.float64), scores, test.starts)


@pytest.mark.parametrize("name", ["lightgbm", "xgboost linear", "lbfgs", "lbfgs standard", "torch linear", "torch mlp"])
@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e-4])
def test_onnx_scores_tiny_features_as_the_model(name, size, tmp_path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    noise = np.random.default_rng(0)
    features = (noise.normal(size=(400, 4)) * size).astype(np.float32)
    features[:, 3] = noise.lognormal(0, 3, 400)
    lists = rp.Lists(features, np.digitize(features[:, 0] / size, [-0.5, 0.5]), np.arange(0, 401, 20))
    given = {"loss": "mse", **MODELS[name]}
    model = rp.fit(given.pop("backend"), train=lists, **given)
    session = onnxruntime.InferenceSession(str(model.export(tmp_path / "model.onnx")))
    (scores,) = session.run(["scores"], {"features": features})
    expected = model.predict(lists)
    assert np.abs(scores - expected).max() <= 1e-5 * max(1.0, float(np.abs(expected).max()))
    assert name == "xgboost linear" or np.ptp(expected) > 1e-3


@pytest.mark.parametrize("rows", [64, 5000])
def test_compiled_trees_use_threads_where_they_help(fitted, rows, monkeypatch) -> None:
    from rankplug.system import workers

    compiled = fitted("lightgbm").compile()
    features = np.random.default_rng(0).random((rows, 136), np.float32)
    chunks: list[workers.Chunk] = []
    run = workers.run
    monkeypatch.setattr(workers, "run", lambda function, parts: (chunks.extend(parts), run(function, parts)))
    with rp.use_threads(1):
        alone = compiled.predict(features)
    chunks.clear()
    with rp.use_threads(2):
        np.testing.assert_array_equal(compiled.predict(features), alone)
    assert (len(chunks) >= 2) == (rows == 5000)


@pytest.mark.parametrize("name", OF_TREES)
def test_compiled_trees_predict_to_the_last_bit(fitted, split, name) -> None:
    model = fitted(name)
    compiled = model.compile()
    for features in (split.test.features, with_holes(split.test), split.test.features[:1], split.test.features[:0]):
        np.testing.assert_array_equal(compiled.predict(features), model.predict(features))
    ensemble = model.tree_ensemble()
    assert ensemble is not None
    # On thresholds themselves, and on the numbers next to them.
    places = np.flatnonzero(ensemble.feature >= 0)
    edges = np.repeat(split.test.features[:1], 3 * places.size, axis=0)
    around = [np.nextafter(ensemble.threshold[places], np.float32(side)) for side in (-np.inf, np.inf)]
    for row, values in enumerate([ensemble.threshold[places], *around]):
        edges[np.arange(places.size) + row * places.size, ensemble.feature[places]] = values
    edges = np.where(np.isfinite(edges), edges, np.float32(0))
    np.testing.assert_array_equal(compiled.predict(edges), model.predict(edges))


def of_dump(tree: dict, row: dict[str, float]) -> float:
    while "leaf" not in tree:
        value = row[tree["split"]]
        side = tree["missing"] if np.isnan(value) else tree["yes"] if value < tree["split_condition"] else tree["no"]
        tree = next(child for child in tree["children"] if child["nodeid"] == side)
    return tree["leaf"]


def of_ranklib(split: ElementTree.Element, row: np.ndarray) -> float:
    while (output := split.find("output")) is None:
        value = row[int(split.findtext("feature")) - 1]
        side = "left" if value <= np.float32(split.findtext("threshold")) else "right"
        split = next(child for child in split.findall("split") if child.get("pos") == side)
    return float(output.text)


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "xgboost dart"])
def test_search_engines_read_trees_that_rank_alike(fitted, split, tmp_path, name) -> None:
    model, test = fitted(name), split.test[:3]
    names = model.feature_names()
    trees = json.loads(model.export(tmp_path / "model.json").read_text())
    features = with_holes(test)
    found = [sum(of_dump(tree, dict(zip(names, row, strict=True))) for tree in trees) for row in features]
    same_order(np.array(found), model.predict(features), test.starts)
    root = ElementTree.fromstring(model.export(tmp_path / "model.xml").read_text().partition("\n\n")[2])
    assert [tree.get("id") for tree in root] == [str(place + 1) for place in range(len(trees))]
    found = [sum(of_ranklib(tree.find("split"), row) for tree in root) for row in test.features]
    same_order(np.array(found), model.predict(test), test.starts)


@pytest.mark.parametrize("name", ["lbfgs standard", "lbfgs plain", "xgboost linear"])
def test_linear_models_become_weights_by_feature(fitted, split, tmp_path, name) -> None:
    model = fitted(name)
    weights = json.loads(model.export(tmp_path / "linear.json").read_text())
    found = split.test.features.astype(float) @ np.array([weights[f"f{place}"] for place in range(len(weights))])
    scores = model.predict(split.test)
    same_order(found - found.mean(), scores - scores.mean(), split.test.starts)
