"""Models keep what they know in open files: the same scores elsewhere, and a clear word about foreign files."""

from __future__ import annotations

import errno
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import rankplug as rp
from rankplug.errors import ModelFileError
from rankplug.system import threads
from rankplug.training._models import file_digest

ENGINES = [
    ("lightgbm", "trees[leaves=4,rounds=5,feature_fraction=1.0]", "model.txt"),
    ("lightgbm", "trees[leaves=4,rounds=5,feature_fraction=1.0,boosting=dart,drop_rate=0.5]", "model.txt"),
    ("lightgbm", "trees[leaves=4,rounds=5,feature_fraction=1.0,linear_tree=true]", "model.txt"),
    ("xgboost", "trees[leaves=4,rounds=5,feature_fraction=1.0]", "model.ubj"),
    ("xgboost", "trees[leaves=4,rounds=5,feature_fraction=1.0,boosting=dart,drop_rate=0.5]", "model.json"),
    ("xgboost", "linear[rounds=5]", "model.json"),
    ("torch[epochs=2,batch=8]", "mlp[layers=(4,),batch_norm=true]", "model.safetensors"),
    ("torch[epochs=2,batch=8]", "attention[width=4]", "model.safetensors"),
    ("lbfgs[iterations=5]", "linear", "model.json"),
    ("cutting_planes[planes=5]", "linear", "model.json"),
    ("rankboost", "stumps[rounds=5]", "model.json"),
]
SCORE_ELSEWHERE = """
import sys, numpy as np, rankplug as rp
with np.load(sys.argv[1]) as data:
    lists = rp.Lists(data["features"], data["labels"], data["starts"])
for path in sys.argv[2:]:
    np.save(path + ".npy", rp.load_model(path).predict(lists))
"""


@pytest.fixture(scope="module")
def lists():
    noise = np.random.default_rng(0)
    features = noise.normal(size=(200, 4)).astype(np.float32)
    return rp.Lists(features, (features[:, 0] > 0.3).astype(np.float32), np.arange(0, 201, 10))


def fitted(backend, scorer, lists):
    return rp.fit(backend, scorer=scorer, loss="cross_entropy", train=lists, valid=lists)


def test_a_saved_model_scores_the_same_in_another_process(lists, tmp_path):
    np.savez(tmp_path / "data.npz", features=lists.features, labels=lists.labels, starts=lists.starts)
    here, paths = [], []
    for number, (backend, scorer, name) in enumerate(ENGINES):
        model = fitted(backend, scorer, lists)
        paths.append(str(model.save(tmp_path / str(number) / name)))
        here.append(model.predict(lists))
        assert rp.load_model(paths[-1]).record == model.record
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(lists), here[-1])
    command = [sys.executable, "-c", SCORE_ELSEWHERE, str(tmp_path / "data.npz"), *paths]
    subprocess.run(command, check=True, env=os.environ | {"RANKPLUG_THREADS": str(threads())})
    for (backend, scorer, _), scores, path in zip(ENGINES, here, paths, strict=True):
        np.testing.assert_array_equal(np.load(path + ".npy"), scores, err_msg=f"{backend} {scorer}")


def test_the_engines_read_the_files_and_score_the_same(lists, tmp_path):
    import lightgbm as lgb
    import xgboost as xgb

    model = fitted("lightgbm", "trees[leaves=4,rounds=5]", lists)
    plain = lgb.Booster(model_file=model.save(tmp_path / "trees.txt"))
    np.testing.assert_array_equal(plain.predict(lists.features), model.predict(lists))
    model = fitted("xgboost", "trees[leaves=4,rounds=5]", lists)
    plain = xgb.Booster(model_file=model.save(tmp_path / "trees.ubj"))
    np.testing.assert_array_equal(plain.predict(xgb.DMatrix(lists.features)), model.predict(lists))


def test_a_model_that_finds_no_room_leaves_the_earlier_one(lists, tmp_path, monkeypatch):
    path = fitted("lightgbm", "trees[leaves=4,rounds=5]", lists).save(tmp_path / "model.txt")
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    other = fitted("lightgbm", "trees[leaves=4,rounds=3]", lists)
    for at in (1, 2):
        calls = iter((1, 2))

        def fsync(handle, at=at, calls=calls):
            if next(calls) == at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("rankplug.system.whole_files.os.fsync", fsync)
        with pytest.raises(ModelFileError, match=f"cannot write {path}: No space left on device"):
            other.save(path)
        assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before
        monkeypatch.undo()
    assert other.save(path) == path and np.array_equal(rp.load_model(path).predict(lists), other.predict(lists))


def forge(path, **changes):
    """Change facts beside a model under a digest that is right."""
    beside = path.with_name(f"{path.name}.rankplug.json")
    sidecar = json.loads(beside.read_text()) | changes
    beside.write_text(json.dumps(sidecar | {"digest": file_digest(path.read_bytes(), sidecar)}))


def change_a_number(path, beside):
    beside.write_text(beside.read_text().replace('"features": 4', '"features": 5'))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda path, beside: beside.unlink(), r"model\.txt\.rankplug\.json is missing beside"),
        (lambda path, beside: path.write_bytes(path.read_bytes()[:-50]), "damaged or was replaced"),
        (lambda path, beside: beside.write_bytes(b"{}"), "damaged or not of rankplug"),
        (lambda path, beside: forge(path, format="rankplug model 99"), "this version reads"),
        (lambda path, beside: forge(path, backend="gone"), "backend gone, which is not installed"),
        (change_a_number, "damaged or was replaced"),
    ],
)
def test_a_damaged_or_foreign_model_is_refused(change, sentence, lists, tmp_path):
    path = fitted("lightgbm", "trees[leaves=4,rounds=5]", lists).save(tmp_path / "model.txt")
    change(path, path.with_name("model.txt.rankplug.json"))
    with pytest.raises(ModelFileError, match=sentence):
        rp.load_model(path)


@pytest.mark.parametrize("backend", ["lightgbm", "xgboost", "torch", "lbfgs"])
def test_content_of_another_kind_under_a_right_digest(backend, lists, tmp_path):
    path = fitted("lightgbm", "trees[leaves=4,rounds=5]", lists).save(tmp_path / "model.txt")
    path.write_bytes(b"no model at all")
    record = json.loads(path.with_name("model.txt.rankplug.json").read_text())["record"]
    record["combination"]["scorer"] = "linear"
    forge(path, backend=backend, record=record)
    with pytest.raises(ModelFileError, match=f"cannot be read by {backend}"):
        rp.load_model(path)
