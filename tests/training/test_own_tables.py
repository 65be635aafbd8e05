"""A user's own tables: every format, every kind of column and every backend, from a file to a model in use."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app

pa = pytest.importorskip("pyarrow")
BACKENDS = {
    "lightgbm": "trees[rounds=3,leaves=4,min_data=2,engine=lightgbm[min_data_per_group=2]]",
    "xgboost": "trees[rounds=3,leaves=4]",
    "torch[epochs=2]": "mlp[layers=(4,)]",
    "lbfgs[iterations=5]": "linear",
}
KINDS = ("numeric", "category", "text", "missing")
ROLES = {"query": "search", "label": "relevance"}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    noise, rows = np.random.default_rng(0), 160
    frame = pd.DataFrame(
        {
            "search": np.repeat([f"s{query}" for query in range(16)], 10),
            "relevance": noise.integers(0, 3, rows),
            "numeric": noise.random(rows),
            "category": pd.Categorical(noise.choice(["red", "green", "blue"], rows)),
            "text": noise.choice(["silk", "wool", "linen", "felt"], rows),
            "missing": noise.random(rows),
            "offer_id": noise.permutation(rows),
        }
    )
    frame.loc[::3, "missing"] = np.nan
    frame.loc[::7, ["category", "text"]] = None
    return frame


def source_of(kind: str, frame: pd.DataFrame, folder: Path) -> Any:
    path = folder / f"shop.{kind}"
    if kind.startswith(("csv", "tsv")):
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    elif kind.startswith("jsonl"):
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "polars":
        return pytest.importorskip("polars").from_pandas(frame)
    else:
        return frame if kind == "pandas" else pa.Table.from_pandas(frame)
    return path


def lists_of(source: Any) -> rp.Lists:
    return rp.Lists.from_table(source, **ROLES)


@pytest.fixture(scope="module")
def fitted(frame):
    """Fit each backend to each kind of column once, from pandas."""
    models: dict[Any, Any] = {}

    def fit(backend: str, columns: tuple[str, ...], source: Any = None) -> rp.Model:
        if source is not None or (backend, columns) not in models:
            lists = lists_of(frame[[*ROLES.values(), *columns]] if source is None else source)
            model = rp.fit(backend, scorer=BACKENDS[backend], loss="cross_entropy", train=lists, progress=False)
            if source is not None:
                return model
            models[backend, columns] = model
        return models[backend, columns]

    return fit


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("column", KINDS)
@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "polars", "arrow"])
def test_every_format_and_column_fits_every_backend(kind, column, backend, frame, fitted, tmp_path):
    columns = tuple(dict.fromkeys(("numeric", column)))
    source = source_of(kind, frame[[*ROLES.values(), *columns]], tmp_path)
    model, expected = fitted(backend, columns, source), fitted(backend, columns)
    scores = model.predict(source)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(scores, expected.predict(frame))
    assert rp.evaluate(model, source, "ndcg@5").equals(
        rp.evaluate(expected, lists_of(frame[[*ROLES.values(), *columns]]), "ndcg@5")
    )


@pytest.mark.parametrize("kind", ["csv.gz", "tsv", "jsonl", "jsonl.gz"])
def test_text_formats_are_the_same_lists(kind, frame, tmp_path):
    with pytest.warns(UserWarning, match=r"left out: offer_id \(named as an id\)"):
        expected, read = (lists_of(source) for source in (frame, source_of(kind, frame, tmp_path)))
    assert read.fingerprint == expected.fingerprint and read.feature_names == KINDS
    assert read.query_ids.tolist() == expected.query_ids.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_permutation_of_columns_scores_the_same(backend, frame, fitted):
    model = fitted(backend, KINDS)
    expected = model.predict(frame)
    for order in itertools.permutations(KINDS):
        np.testing.assert_array_equal(model.predict(frame[["offer_id", *order, "search"]]), expected)
        np.testing.assert_array_equal(model.predict(lists_of(frame[[*order, *ROLES.values()]])), expected)
    for column in KINDS:
        with pytest.raises(rp.RankplugError, match=f"lack 1 of the 4 features of the model: {column}"):
            model.predict(frame.drop(columns=column))


def test_a_column_that_changes_its_type_late_keeps_its_values(tmp_path):
    rows = 200_000
    price = [*map(str, range(rows - 1)), "0.5"]
    pd.DataFrame({"query": np.arange(rows) // 10, "label": 1, "price": price}).to_csv(
        tmp_path / "late.csv", index=False
    )
    lists = lists_of_usual(tmp_path / "late.csv")
    np.testing.assert_array_equal(lists.features[:, 0], np.array([*range(rows - 1), 0.5], np.float32))


def lists_of_usual(path: Path) -> rp.Lists:
    return rp.Lists.from_table(path, query="query", label="label")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("query,label,price\n1,0,2\n1,1\n", "shop.csv cannot be read .*Expected 3 columns, got 2"),
        ("", "shop.csv cannot be read"),
        ("query,label,query\n1,0,2\n", "two columns of the name query"),
        (
            "query,label,title\n" + "".join(f"1,0,text {row}\n" for row in range(9)),
            "no column of numbers or categories",
        ),
    ],
)
def test_damaged_csv_is_refused(content, message, tmp_path):
    (tmp_path / "shop.csv").write_text(content)
    with pytest.raises(rp.RankplugError, match=message):
        lists_of_usual(tmp_path / "shop.csv")


def shop(rows: int = 5000) -> pd.DataFrame:
    """Return a shop's table: 216 searches, a brand, and ratings that new products lack."""
    noise = np.random.default_rng(0)
    worth = {"acme": 0.0, "bolt": 1.5, "crux": -1.0, "dyna": 0.5}
    frame = pd.DataFrame(
        {
            "search": np.sort(noise.integers(0, 216, rows)),
            "product_id": [f"p{number}" for number in range(rows)],
            "price": noise.lognormal(3, 1, rows).round(2),
            "rating": noise.normal(4, 0.5, rows),
            "brand": noise.choice(list(worth), rows),
        }
    )
    taste = (
        frame["brand"].map(worth) + 1.2 * frame["rating"] - 0.5 * np.log(frame["price"]) + noise.normal(0, 0.5, rows)
    )
    frame["relevance"] = np.digitize(taste, [1.8, 3.3, 4.3])
    frame.loc[noise.random(rows) < 0.1, "rating"] = np.nan
    return frame.sample(frac=1, random_state=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    shop().to_csv(folder / "shop.csv", index=False)
    shop().drop(columns="relevance")[::-1].to_csv(folder / "new.csv", index=False)
    return folder


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize(
    ("backend", "scorer"),
    [
        ("lightgbm", "trees[rounds=20]"),
        pytest.param("torch[epochs=20,lr=0.01]", "mlp[layers=(8,)]", marks=pytest.mark.slow),
    ],
)
def test_the_shop_in_the_shell(backend, scorer, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("RANKPLUG_CACHE", str(folder / "cache"))
    monkeypatch.chdir(tmp_path)
    began = time.process_time()
    words = (folder / "shop.csv", "label=relevance", "query=search", "--backend", backend, "--scorer", scorer)
    told = run("train", *words, "--out", "model")
    assert "features: price, rating; categories: brand (4 levels)" in told and "document: product_id (guessed)" in told
    assert told.splitlines()[:1] == run("train", folder / "shop.csv", *words[3:], "--out", "guessed").replace(
        "search (guessed)", "search").replace("relevance (guessed)", "relevance").splitlines()[:1]  # fmt: skip
    (mean,) = json.loads(run("evaluate", "model", "--json"))
    assert mean["mean"] > (0.8 if backend == "lightgbm" else 0.7) and mean["queries"] == 43
    run("predict", "model", folder / "new.csv", "-o", "scores.csv")
    run("predict", "model", folder / "new.csv", "-o", "scores.parquet")
    scores, rows = pd.read_csv("scores.csv"), pd.read_csv(folder / "new.csv")
    assert scores[["search", "product_id"]].equals(rows[["search", "product_id"]])
    np.testing.assert_array_equal(pd.read_parquet("scores.parquet")["score"], scores["score"])
    # Networks add up rows of a batch in another order.
    np.testing.assert_allclose(scores["score"], rp.load_model("model").predict(rows), rtol=1e-5, atol=1e-6)
    assert time.process_time() - began < 60


def test_the_shop_in_python(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("RANKPLUG_CACHE", str(folder / "cache"))
    train, valid, test = rp.load(folder / "shop.csv", label="relevance", query="search")
    assert train.categories == {"brand": ("acme", "bolt", "crux", "dyna")}
    model = rp.fit("lightgbm", scorer="trees[rounds=20]", loss="xe_ndcg", train=train, valid=valid, progress=False)
    without = rp.load(folder / "shop.csv", label="relevance", query="search", features=["price", "rating"])
    poorer = rp.fit("lightgbm", scorer="trees[rounds=20]", loss="xe_ndcg", train=without.train, valid=without.valid)
    gain = rp.evaluate(model, test, "ndcg@5").mean() - rp.evaluate(poorer, without.test, "ndcg@5").mean()
    assert gain > 0.05
    loaded = rp.load_model(model.save(tmp_path / "model.txt"))
    rows = pd.read_csv(folder / "new.csv")
    np.testing.assert_array_equal(loaded.predict(rows), loaded.predict(folder / "new.csv"))
    found = rp.evaluate(loaded, shop(), "ndcg@5", **ROLES)
    assert found.equals(
        rp.evaluate(loaded, lists_of(shop()[["search", "relevance", "brand", "rating", "price"]]), "ndcg@5")
    )


def test_a_sweep_takes_categories_and_gaps_everywhere(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("RANKPLUG_CACHE", str(folder / "cache"))
    grid = {"dataset": f"{folder}/shop.csv[query=search,label=relevance]", "loss": "xe_ndcg",
            "backend": ["xgboost", "lbfgs[iterations=5]"], "scorer": ["linear", "trees[rounds=3]"]}  # fmt: skip
    store = rp.Store(tmp_path)
    results = rp.sweep(grid, store=store, progress=False)
    assert len(rp.results(store=store)["combination"].unique()) == 3 and results is not None
