"""At prediction, columns are matched by name: other orders and further columns change nothing."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.errors import DataError

NAMES = ("price", "clicks", "age", "length", "bm25")
ENGINES = [
    ("lightgbm", "trees[rounds=5,leaves=4]", "model.txt"),
    ("xgboost", "trees[rounds=5,leaves=4]", "model.ubj"),
    ("xgboost", "linear[rounds=5]", "linear.ubj"),
    ("torch[epochs=1]", "mlp[layers=(4,)]", "model.safetensors"),
    ("lbfgs[iterations=5]", "linear", "model.json"),
]


def lists_of(frame: pd.DataFrame, columns: list[str]) -> rp.Lists:
    return rp.Lists.from_table(frame[["query", "label", *columns]], query="query", label="label")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    noise = np.random.default_rng(0)
    columns = {name: noise.normal(size=300).astype(np.float32) for name in NAMES}
    label = np.digitize(columns["bm25"] - columns["age"], [0, 1])
    return pd.DataFrame({"query": np.repeat(np.arange(30), 10), "label": label, **columns, "other": 1.0})


@pytest.fixture(scope="module", params=ENGINES, ids=lambda engine: f"{engine[0]} {engine[1]}")
def model(request, frame, tmp_path_factory):
    backend, scorer, name = request.param
    model = rp.fit(backend, scorer=scorer, loss="cross_entropy", train=lists_of(frame, [*NAMES]))
    loaded = rp.load_model(model.save(tmp_path_factory.mktemp("models") / name))
    return model, loaded


def test_columns_in_another_order_score_the_same(frame, model):
    expected = model[0].predict(frame[[*NAMES]].to_numpy())
    for fitted in model:
        for columns in ([*NAMES], [*NAMES][::-1], ["other", *NAMES[2:], *NAMES[:2]]):
            np.testing.assert_array_equal(fitted.predict(lists_of(frame, columns)), expected)
            np.testing.assert_array_equal(fitted.predict(frame[columns]), expected)


def test_evaluate_matches_columns_by_name(frame, model):
    first, second = (lists_of(frame, columns) for columns in ([*NAMES], ["other", *NAMES[::-1]]))
    for fitted in model:
        assert rp.evaluate(fitted, second, "ndcg@5").equals(rp.evaluate(fitted, first, "ndcg@5"))


def test_a_missing_column_is_named(frame, model):
    for fitted in model:
        with pytest.raises(DataError, match=r"lack 2 of the 5 features of the model: price, bm25"):
            fitted.predict(lists_of(frame, ["age", "other", "clicks", "length"]))


def test_unnamed_columns_keep_their_order(frame, model):
    matrix = frame[[*NAMES]].to_numpy()
    for fitted in model:
        assert not np.array_equal(fitted.predict(matrix[:, ::-1]), fitted.predict(matrix))


def test_explanation_matches_columns_by_name(frame, model):
    first, second = (
        rp.explain(model[1], lists_of(frame, columns), repeats=1) for columns in ([*NAMES], ["other", *NAMES[::-1]])
    )
    assert first.equals(second) and set(first["feature"]) == set(NAMES)


@pytest.mark.parametrize(("backend", "scorer", "name"), ENGINES)
def test_commands_match_columns_by_name(backend, scorer, name, frame, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("RANKPLUG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("RANKPLUG_CACHE", str(tmp_path / "cache"))
    for folder, columns in (("sorted", [*NAMES]), ("mixed", ["other", *NAMES[::-1]])):
        (tmp_path / folder).mkdir()
        for part in ("train", "valid", "test"):
            frame[["query", "label", *columns]].to_parquet(tmp_path / folder / f"{part}.parquet")

    def run(*words: object) -> str:
        done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    def data(folder: str) -> str:
        return f'parquet[path="{tmp_path / folder}",query=query,label=label]'

    model = tmp_path / name
    run("train", data("sorted"), "--backend", backend, "--scorer", scorer, "--loss", "cross_entropy", "--out", model)
    means = {folder: run("evaluate", model, data(folder)) for folder in ("sorted", "mixed")}
    assert means["sorted"] == means["mixed"] and re.match(r"ndcg@5 0\.\d+", means["mixed"])
    runs = []
    for folder in ("sorted", "mixed"):
        run("trec", "run", model, data(folder), "--no-header", "--out", tmp_path / "run.txt")
        runs.append((tmp_path / "run.txt").read_text())
    assert runs[0] == runs[1]
