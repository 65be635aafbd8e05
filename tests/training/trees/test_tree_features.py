"""Names, categories and monotone features reach the engines' models, and an engine's own parameters are its own."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankplug as rp
from rankplug.errors import DataError, FitError

ENGINES = ["lightgbm", "xgboost"]
SMALL = "rounds=12,learning_rate=0.1,l2=0,leaves=6,min_data=1,min_hessian=0.0001"
NAMES = ("brand", "price", "bm25")


@pytest.fixture(scope="module")
def lists() -> rp.Lists:
    """Relevance rises with bm25, falls with price, and brands 1, 4 and 6 of 8, which are no interval, sell best."""
    noise = np.random.default_rng(0)
    brand, price, match = noise.integers(0, 8, 600), noise.normal(size=600), noise.normal(size=600)
    score = 2.0 * np.isin(brand, [1, 4, 6]) - 0.5 * price + match + noise.normal(size=600)
    features = np.column_stack([brand, price, match]).astype(np.float32)
    labels = np.digitize(score, [0.5, 2.0])
    return rp.Lists(features, labels, np.arange(0, 601, 10), feature_names=NAMES)


def fit(engine: str, lists: rp.Lists, more: str = "") -> Any:
    return rp.fit(engine, loss="lambdarank", scorer=f"trees[{SMALL}{more}]", train=lists, progress=False)


def features_of_splits(engine: str, model: Any) -> str:
    return model.encode(".txt" if engine == "lightgbm" else ".json").decode()


@pytest.mark.parametrize("engine", ENGINES)
def test_names_stand_in_the_engines_own_model_and_change_no_score(engine: str, lists: rp.Lists) -> None:
    named, nameless = fit(engine, lists), fit(engine, replace(lists, feature_names=()))
    found = named.booster.feature_name() if engine == "lightgbm" else named.booster.feature_names
    assert tuple(found) == NAMES
    np.testing.assert_array_equal(named.predict(lists), nameless.predict(lists))
    np.testing.assert_array_equal(named.feature_importances(), nameless.feature_importances())


@pytest.mark.parametrize("engine", ENGINES)
def test_categories_are_split_by_sets(engine: str, lists: rp.Lists) -> None:
    by_name, by_place = fit(engine, lists, ",categorical=brand"), fit(engine, lists, ",categorical=0")
    in_data = fit(engine, replace(lists, categorical=(0,)))
    np.testing.assert_array_equal(by_name.predict(lists), by_place.predict(lists))
    np.testing.assert_array_equal(by_name.predict(lists), in_data.predict(lists))
    text = features_of_splits(engine, by_name)
    if engine == "lightgbm":
        assert max(map(int, re.findall(r"^num_cat=(\d+)", text, re.MULTILINE))) > 0
    else:
        trees = json.loads(text)["learner"]["gradient_booster"]["model"]["trees"]
        assert any(tree["categories"] for tree in trees)
    # With two leaves only a set of categories tells the best brands from the others.
    brand = lists.features[:, 0]
    brands = replace(lists, features=lists.features * np.float32([1, 0, 0]), labels=2.0 * np.isin(brand, [1, 4, 6]))
    few = "rounds=1,leaves=2,min_data=1,learning_rate=1.0,categorical=brand"
    few += ",engine=(lightgbm[min_data_per_group=1],xgboost[])"
    model = rp.fit(engine, loss="mse", scorer=f"trees[{few}]", train=brands, progress=False)
    probe = np.zeros((8, 3), np.float32)
    probe[:, 0] = np.arange(8)
    scores = model.predict(probe)
    assert set(np.flatnonzero(scores == scores.max())) == {1, 4, 6}


@pytest.mark.parametrize("engine", ENGINES)
def test_monotone_features_move_no_score_against_them(engine: str, lists: rp.Lists) -> None:
    model = fit(engine, lists, ",increasing=bm25,decreasing=(price,)")
    noise = np.random.default_rng(1)
    for column, sign in ((2, 1), (1, -1)):
        for _ in range(20):
            probe = np.repeat(noise.normal(size=(1, 3)).astype(np.float32), 50, axis=0)
            probe[:, 0], probe[:, column] = 3, np.linspace(-3, 3, 50)
            assert (sign * np.diff(model.predict(probe)) >= -1e-7).all()
    free = fit(engine, lists)
    moved = np.linspace(-3, 3, 400)
    probe = np.column_stack([np.full(400, 3.0), np.zeros(400), moved]).astype(np.float32)
    assert (np.diff(free.predict(probe)) < 0).any()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_data_frames_names_and_categories_reach_the_model(engine: str, lists: rp.Lists) -> None:
    words = pd.Categorical.from_codes(lists.features[:, 0].astype(int), list("abcdefgh"))
    frame = pd.DataFrame({"brand": words, "price": lists.features[:, 1], "bm25": lists.features[:, 2]})
    qid = np.repeat(np.arange(60), 10)
    ranker = rp.Ranker("lambdarank", backend=engine, scorer=f"trees[{SMALL}]", progress=False)
    ranker.fit(frame, lists.labels, qid=qid)
    same = fit(engine, replace(lists, categorical=(0,)))
    np.testing.assert_array_equal(ranker.predict(frame), same.predict(lists))
    assert list(ranker.categories_["brand"]) == list("abcdefgh")
    # Codes are those of fit, whatever categories the frame of predict has, and one never seen is as missing.
    fewer = frame.iloc[:7].assign(brand=pd.Categorical(frame["brand"].iloc[:7].astype(str)))
    np.testing.assert_array_equal(ranker.predict(fewer), ranker.predict(frame)[:7])
    unseen = frame.iloc[:1].assign(brand=pd.Categorical(["new"]))
    missing = frame.iloc[:1].assign(brand=pd.Categorical([None], categories=list("abcdefgh")))
    np.testing.assert_array_equal(ranker.predict(unseen), ranker.predict(missing))
    with pytest.raises(DataError, match="trained on a data frame with the categories of brand; give one again"):
        ranker.predict(lists.features)


@pytest.mark.parametrize("value", [np.inf, 2.5, -1.0])
def test_values_that_are_no_categories_are_refused(value: float, lists: rp.Lists) -> None:
    features = lists.features.copy()
    features[:2, 0] = np.nan, value
    with pytest.raises(DataError, match=f"feature brand is categorical and has the value {value:g}"):
        fit("lightgbm", replace(lists, features=features, categorical=(0,)))


def test_only_trees_take_categories(lists: rp.Lists) -> None:
    with pytest.raises(DataError, match="backend torch takes no categorical features"):
        rp.fit("torch[epochs=1]", loss="mse", train=replace(lists, categorical=(0,)), progress=False)


@pytest.mark.parametrize(
    ("engine", "own", "path"),
    [
        ("lightgbm", "path_smooth=50", r"\[path_smooth: 50\]"),
        ("xgboost", "max_delta_step=0.01", ""),
    ],
)
def test_an_engines_own_parameter_reaches_it(engine: str, own: str, path: str, lists: rp.Lists) -> None:
    plain, changed = fit(engine, lists), fit(engine, lists, f",engine={engine}[{own}]")
    assert not np.array_equal(plain.predict(lists), changed.predict(lists))
    if path:
        assert re.search(path, changed.text)
    both = fit(engine, lists, f",engine=(lightgbm[path_smooth=50],xgboost[gamma=0.5],{engine}[{own}])")
    assert both.record.combination["scorer"].count("path_smooth") >= 1


@pytest.mark.parametrize(
    ("engine", "more", "sentence"),
    [
        ("lightgbm", "engine=lightgbm[path_smoth=1]", "lightgbm has no parameter path_smoth: did you mean path_smooth"),
        ("lightgbm", "engine=lightgbm[num_leaves=4]", "num_leaves is set by rankplug, by parameters of its own"),
        ("lightgbm", "engine=lightgbm[path_smooth=-1]", "LightGBM stopped: Check failed"),
        ("lightgbm", "categorical=brnd", "there is no feature brnd: did you mean brand"),
        ("lightgbm", "increasing=price,decreasing=price", "price cannot be increasing and decreasing"),
    ],
)
def test_what_is_not_possible_is_told(engine: str, more: str, sentence: str, lists: rp.Lists) -> None:
    with pytest.raises((DataError, FitError), match=re.escape(sentence)):
        fit(engine, lists, f",{more}")


def test_parts_of_lists_keep_names_and_categories(lists: rp.Lists) -> None:
    coded = replace(lists, categorical=(0,))
    parts = [coded[3], coded[2:5], coded[[4, 1]], coded.shuffled(0), rp.Lists.concatenate([coded[:2], coded[2:]])]
    assert all((part.feature_names, part.categorical) == (NAMES, (0,)) for part in parts)
    assert coded.fingerprint != lists.fingerprint == replace(lists, feature_names=()).fingerprint
    with pytest.raises(DataError, match="cannot be joined"):
        rp.Lists.concatenate([coded[:2], lists[2:]])


def lists_of(queries: int, features: int = 8) -> rp.Lists:
    """Return lists of three documents with features of which no split is worthless."""
    noise = np.random.default_rng(0)
    values = noise.normal(size=(3 * queries, features)).astype(np.float32)
    labels = np.clip(np.round(values.sum(1) + noise.normal(size=3 * queries)), 0, 4).astype(np.float32)
    return rp.Lists(values, labels, np.arange(0, 3 * queries + 1, 3))


def leaves_of(model: rp.Model) -> int:
    """Return the leaves of the largest tree, as the engine writes them."""
    booster = model.booster  # type: ignore[attr-defined]
    if hasattr(booster, "model_to_string"):
        return max(int(number) for number in re.findall(r"num_leaves=(\d+)", booster.model_to_string()))
    return max(tree.count("leaf=") for tree in booster.get_dump())


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(
    ("queries", "given", "leaves"),
    [(60, "", 4), (24 * 24, "", 4), (48 * 48, "", 8), (190 * 190, "", 31), (48 * 48, "leaves=5,", 5)],
)
def test_a_tree_has_a_6th_of_the_root_of_the_queries_as_leaves_from_4_to_31(
    engine: str, queries: int, given: str, leaves: int
) -> None:
    scorer = f"trees[{given}rounds=2,min_data=1,feature_fraction=1]"
    model = rp.fit(engine, scorer=scorer, loss="mse", train=lists_of(queries), progress=False, train_curve=False)
    assert leaves_of(model) == leaves
    assert f"leaves={leaves}" in model.record.combination["scorer"]


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(
    ("features", "given", "seen"), [(5, "", 5), (10, "", 8), (40, "", 12), (10, "feature_fraction=0.2,", 2)]
)
def test_a_tree_sees_three_features_of_ten_but_at_least_eight(
    engine: str, features: int, given: str, seen: int
) -> None:
    scorer = f"trees[{given}rounds=1,leaves=200,min_data=1]"
    model = rp.fit(engine, scorer=scorer, loss="mse", train=lists_of(400, features), progress=False, train_curve=False)
    assert np.count_nonzero(model.feature_importances()) == seen


def test_what_is_asked_has_the_name_of_its_words_whatever_the_data() -> None:
    asked = rp.Combination(dataset="synthetic", backend="lightgbm", loss="mse")
    assert (
        asked.identity
        == rp.Combination(**{**asked.model_dump(), "scorer": "trees[leaves=none,feature_fraction=none]"}).identity
    )
    assert asked.identity != rp.Combination(**{**asked.model_dump(), "scorer": "trees[leaves=4]"}).identity
