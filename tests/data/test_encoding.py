"""Categories and missing values become numbers as pandas and NumPy encode them by hand."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

import rankplug as rp
from rankplug.data import Encoding
from rankplug.data.encoding import MOST_COLUMNS

ENGINES = ["torch[epochs=2]", "lbfgs[iterations=5]", "cutting_planes[planes=5]", "xgboost"]


def shop(levels: int = 3, rows: int = 400) -> pd.DataFrame:
    noise = np.random.default_rng(levels)
    frame = pd.DataFrame(
        {
            "search": np.repeat(np.arange(rows // 10), 10),
            "relevance": noise.integers(0, 3, rows),
            "price": noise.random(rows).astype(np.float32),
            "brand": [f"b{code:03d}" for code in noise.integers(0, levels, rows)],
            "stock": noise.integers(0, 9, rows),
        }
    )
    frame.loc[::7, "price"] = np.nan
    frame.loc[::5, "brand"] = None
    return frame


def lists_of(frame: pd.DataFrame) -> rp.Lists:
    return rp.Lists.from_table(frame, query="search", label="relevance")


def by_hand(frame: pd.DataFrame) -> pd.DataFrame:
    """Encode the shop's features without any code of rankplug."""
    levels = sorted(frame["brand"].dropna().unique())
    price = frame["price"].fillna(frame["price"].median())
    gaps = {"price is missing": frame["price"].isna()}
    if len(levels) <= MOST_COLUMNS:
        brand = {f"brand={level}": frame["brand"] == level for level in levels}
    else:
        ranks = frame["brand"].map({level: rank for rank, level in enumerate(levels)})
        brand = {"brand": ranks.fillna(ranks.median())}
        gaps["brand is missing"] = frame["brand"].isna()
    return pd.DataFrame({"price": price, **brand, "stock": frame["stock"], **gaps}).astype(np.float32)


@pytest.mark.parametrize("levels", [3, MOST_COLUMNS, MOST_COLUMNS + 1, 60])
def test_encoding_is_that_of_pandas(levels: int) -> None:
    frame = shop(levels)
    lists, expected = lists_of(frame), by_hand(frame)
    encoding = Encoding.of(lists)
    assert encoding.outputs == tuple(expected.columns) and encoding.width == expected.shape[1]
    np.testing.assert_array_equal(encoding(lists.features), expected.to_numpy())
    read = Encoding.read(json.loads(json.dumps(encoding.describe())))
    np.testing.assert_array_equal(read(lists.features), expected.to_numpy())


@pytest.mark.parametrize("backend", ENGINES)
def test_models_train_on_the_encoded_features(backend: str, tmp_path) -> None:
    frame = shop()
    plain = pd.concat([frame[["search", "relevance"]], by_hand(frame)], axis=1)
    parts = {"scorer": "linear", "loss": "cross_entropy", "progress": False}
    model = rp.fit(backend, train=lists_of(frame), valid=lists_of(frame[200:]), **parts)
    expected = rp.fit(backend, train=lists_of(plain), valid=lists_of(plain[200:]), **parts)
    np.testing.assert_array_equal(model.predict(frame), expected.predict(plain))
    loaded = rp.load_model(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(frame), expected.predict(plain))


@pytest.mark.parametrize("backend", ENGINES)
def test_unseen_levels_and_new_gaps_are_missing(backend: str) -> None:
    frame = shop()
    model = rp.fit(backend, scorer="linear", loss="cross_entropy", train=lists_of(frame), progress=False)
    unseen, missing = frame.assign(brand="new"), frame.assign(brand=None)
    np.testing.assert_array_equal(model.predict(unseen), model.predict(missing))
    gaps = frame.assign(stock=np.nan)
    np.testing.assert_array_equal(model.predict(gaps), model.predict(frame.assign(stock=frame["stock"].median())))


def test_codes_follow_the_text_whatever_its_order() -> None:
    frame = shop()
    train, code = lists_of(frame), {"b000": 0, "b001": 1, "b002": 2}
    renamed = frame.assign(brand=frame["brand"].replace("b001", "a new one"))
    for other in (frame[::-1], frame[frame["brand"] != "b000"], renamed):
        lists = lists_of(other).with_categories(train.categories)
        np.testing.assert_array_equal(lists.features[:, 1], other["brand"].map(code).to_numpy())


def test_numbers_stand_for_the_levels_they_name() -> None:
    """A column of text in training may look like one of numbers in a file that happens to have no other levels."""
    frame = shop().assign(brand=lambda rows: rows["brand"].map({"b000": "7", "b001": "12", "b002": "red"}))
    train = lists_of(frame)
    numbers = frame.assign(brand=pd.to_numeric(frame["brand"], errors="coerce"))
    expected = frame.assign(brand=frame["brand"].where(frame["brand"] != "red"))
    model = rp.fit("lightgbm", scorer="trees[rounds=3,min_data=1]", loss="mse", train=train, progress=False)
    np.testing.assert_array_equal(model.predict(lists_of(numbers)), model.predict(expected))
    np.testing.assert_array_equal(model.predict(numbers), model.predict(expected))
    with pytest.raises(rp.RankplugError, match="stock is a number in the training data and text in"):
        model.predict(lists_of(frame.assign(stock=frame["stock"].astype(str) + " left")))


def test_joined_lists_share_their_levels() -> None:
    frame = shop()
    parts = [lists_of(frame[:200].replace("b000", "z")), lists_of(frame[200:])]
    joined = rp.Lists.concatenate(parts)
    assert joined.categories == {"brand": ("b001", "b002", "z", "b000")}
    texts = [joined.categories["brand"][int(code)] if code == code else None for code in joined.features[:, 1]]
    expected = pd.concat([frame[:200].replace("b000", "z"), frame[200:]])["brand"]
    assert texts == [value if isinstance(value, str) else None for value in expected]


def test_complete_numbers_pass_as_they_are() -> None:
    frame = shop()[["search", "relevance", "stock"]]
    lists = lists_of(frame)
    encoding = Encoding.of(lists)
    assert encoding.is_plain and encoding.lists(lists) is lists
    coded = dataclasses.replace(lists, categorical=(0,))
    assert coded.fingerprint != lists.fingerprint and Encoding.of(coded).lists(coded).fingerprint == coded.fingerprint


@pytest.mark.parametrize("levels", [3, MOST_COLUMNS + 5])
@pytest.mark.parametrize("backend", ["torch[epochs=2]", "lbfgs[iterations=5]", "xgboost"])
def test_onnx_encodes_the_data_itself(backend: str, levels: int, tmp_path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    train = lists_of(shop(levels))
    model = rp.fit(backend, scorer="linear", loss="cross_entropy", train=train, progress=False)
    session = runtime.InferenceSession(model.export(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"features": train.features})
    np.testing.assert_allclose(scores, model.predict(train), rtol=1e-4, atol=1e-5)
    if backend == "xgboost":
        with pytest.raises(rp.RankplugError, match="export it as ONNX"):
            model.export(tmp_path / "model.json")
