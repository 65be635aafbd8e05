"""Trees that see a share of the queries, with all of their documents."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp
from rankplug.training import BoostingObjective, Problem

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
