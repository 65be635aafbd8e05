"""Names, categories, monotone features, sizes and samples of queries reach the engines' models."""

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
from rankplug.training import BoostingObjective, Problem

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


@pytest.mark.parametrize(
    ("engine", "own", "path"),
    [("lightgbm", "path_smooth=50", r"\[path_smooth: 50\]"), ("xgboost", "max_delta_step=0.01", "")],
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


TREES = "trees[rounds=30,leaves=7,min_data=5,learning_rate=0.1"


@pytest.fixture(scope="module")
def split() -> rp.Split:
    return rp.load("synthetic[queries=150,documents=12]")


def test_an_iteration_has_the_derivatives_of_whole_queries_and_of_no_others() -> None:
    generator = np.random.default_rng(0)
    starts = np.concatenate(([0], np.cumsum(generator.integers(2, 9, 50))))
    labels, scores = generator.integers(0, 3, starts[-1]), generator.normal(size=starts[-1])
    objective = rp.loss("lambdarank").on(labels, starts, seed=4, step="newton")
    whole = objective(scores, dtype=np.float32)
    seen = []
    for valued in (False, True):
        bagged = BoostingObjective(objective, valued, (0.2, 3))
        for iteration in (0, 2, 3):
            chosen = bagged.sampled_lists(iteration)
            rows = np.repeat(chosen, np.diff(starts))
            step, everywhere = bagged(scores, iteration), bagged.everywhere(scores, iteration)
            assert chosen.sum() == 10 and not everywhere.gradient[~rows].any() and not everywhere.curvature[~rows].any()
            for part in (step.gradient, everywhere.gradient[rows]):
                np.testing.assert_array_equal(part, whole.gradient[rows])
            seen.append(chosen)
    assert (seen[0] == seen[1]).all() and (seen[0] != seen[2]).any(), "drawn anew after three trees"
    assert bagged.loss == pytest.approx(whole.value.mean()), "the loss is that of all queries"


@pytest.mark.parametrize("frequency", [1, 3])
def test_trees_of_lightgbm_are_those_of_a_plain_loop_over_parts_of_the_data(split, frequency) -> None:
    lgb = pytest.importorskip("lightgbm")
    settings = {"num_leaves": 7, "min_data_in_leaf": 5, "min_data_in_bin": 3, "learning_rate": 0.1, "lambda_l2": 0.5}
    quiet = {"objective": "none", "verbosity": -1, "deterministic": True, "force_row_wise": True}
    scorer = "trees[rounds=25,leaves=7,min_data=5,learning_rate=0.1,l2=0.5,min_hessian=0,feature_fraction=1,"
    train, valid = split.train, split.valid
    model = rp.fit(
        "lightgbm", scorer=f"{scorer}query_bagging=0.2,bagging_frequency={frequency}]", loss="lambdarank",
        train=train, valid=valid, selection="ndcg@5", seed=1, train_curve=True,
    )  # fmt: skip
    # The draws alone are asked for; trees, gradients and scores are made anew.
    problem = Problem.of("lightgbm", scorer=f"{scorer}]", loss="lambdarank", train=train, seed=1)
    draws = BoostingObjective(problem.objective("newton"), False, (0.2, frequency))
    parameters = {**quiet, **settings, "min_sum_hessian_in_leaf": 0}
    data = lgb.Dataset(train.features, train.labels, params=parameters)
    scores = {"train": np.zeros(train.documents), "valid": np.zeros(valid.documents)}
    curves = {"train": [], "valid": []}
    for iteration in range(25):
        some = np.flatnonzero(draws.sampled_lists(iteration))
        rows = np.concatenate([np.arange(train.starts[query], train.starts[query + 1]) for query in some])
        part = train[some]
        step = rp.loss("lambdarank").evaluate(scores["train"][rows], part.labels, part.starts, step="newton")
        derivatives = step.gradient.astype(np.float32), np.maximum(step.curvature, 1e-16).astype(np.float32)
        tree = lgb.Booster(parameters, data.subset(rows.tolist()))
        tree.update(fobj=lambda *_, derivatives=derivatives: derivatives)
        for name, lists in (("train", train), ("valid", valid)):
            scores[name] += tree.predict(lists.features, raw_score=True)
            curves[name].append(rp.metric("ndcg@5").mean(scores[name], lists.labels, lists.starts))
    for name in curves:
        np.testing.assert_array_equal(model.record.curve.columns[f"{name} ndcg@5"], curves[name])
    best = int(np.argmax(curves["valid"]))
    assert model.record.best_iteration == best
    assert rp.evaluate(model, valid, "ndcg@5").mean() == curves["valid"][best]


def test_a_draw_that_allows_no_split_ends_nothing(split) -> None:
    """Nine of 90 queries of twelve documents are drawn, so that leaves of 53 leave room for a split now and then."""
    pytest.importorskip("lightgbm")
    scorer = "trees[rounds=20,leaves=7,min_data=53,query_bagging=0.1]"
    model = rp.fit("lightgbm", scorer=scorer, loss="mse", train=split.train, seed=2)
    texts = model.text.split("Tree=")[1:]
    single = ["num_leaves=1\n" in text for text in texts]
    assert len(texts) == model.record.iterations == 20 and any(single) and not all(single)
    assert len(set(model.predict(split.test.features))) > 1


@pytest.fixture
def by_query():
    """Skip where LightGBM samples documents only, as before 4.6."""
    backend = pytest.importorskip("rankplug_lightgbm.backend")
    if backend.BY_QUERY not in backend.known_parameters():
        pytest.skip("this LightGBM samples documents only")


@pytest.mark.parametrize("backend", ["lightgbm", "xgboost", "lightgbm[native=true]"])
def test_trees_that_see_a_fifth_of_the_queries_learn_and_repeat(split, backend, request) -> None:
    pytest.importorskip(backend.partition("[")[0])
    if "native" in backend:
        request.getfixturevalue("by_query")
    models = [
        rp.fit(backend, scorer=f"{TREES}{bagging}]", loss="lambdarank", train=split.train, seed=1)
        for bagging in ("", ",query_bagging=0.2", ",query_bagging=0.2")
    ]
    found = [rp.evaluate(model, split.test, "ndcg@5").mean() for model in models]
    assert found[1] == found[2] != found[0]
    features = range(split.test.features.shape[1])
    best_feature = max(
        rp.evaluate(split.test.features[:, feature], split.test, "ndcg@5").mean() for feature in features
    )
    assert found[1] > 0.8 * min(best_feature, found[0])


def test_native_trees_hand_the_share_to_lightgbm(split, by_query) -> None:
    scorer = "trees[rounds=2,query_bagging=0.2,bagging_frequency=3]"
    model = rp.fit("lightgbm[native=true]", scorer=scorer, loss="lambdarank", train=split.train)
    assert "[bagging_by_query: 1]" in model.text and "[bagging_fraction: 0.2]" in model.text
    assert "[bagging_freq: 3]" in model.text
