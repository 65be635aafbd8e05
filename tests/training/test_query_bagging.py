"""Trees that see a share of the queries, with all of their documents."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp
from rankplug.errors import FitError
from rankplug.training import BoostingObjective

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
            chosen = bagged.chosen_lists(iteration)
            rows = np.repeat(chosen, np.diff(starts))
            step = bagged(scores, iteration)
            assert chosen.sum() == 10 and not step.gradient[~rows].any()
            np.testing.assert_array_equal(step.gradient[rows], whole.gradient[rows])
            seen.append(chosen)
    assert (seen[0] == seen[1]).all() and (seen[0] != seen[2]).any(), "drawn anew after three trees"
    assert bagged.loss == pytest.approx(whole.value.mean()), "the loss is that of all queries"


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


def test_what_cannot_be_sampled_by_query_is_told(split) -> None:
    pytest.importorskip("xgboost")
    with pytest.raises(FitError, match="XGBoost's own objectives sample documents, not whole queries"):
        rp.fit("xgboost[native=true]", scorer="trees[query_bagging=0.2]", loss="lambdarank", train=split.train)
    with pytest.raises(FitError, match="leave one of them away"):
        rp.fit("xgboost", scorer="trees[query_bagging=0.2,bagging=0.5]", loss="lambdarank", train=split.train)


def test_a_lightgbm_that_samples_documents_only_is_told(split, monkeypatch) -> None:
    backend = pytest.importorskip("rankplug_lightgbm.backend")
    monkeypatch.setattr(backend, "known_parameters", lambda: ("bagging_fraction", "bagging_freq"))
    with pytest.raises(FitError, match=r"samples documents, not whole queries; take 4\.6 or later"):
        rp.fit("lightgbm[native=true]", scorer="trees[query_bagging=0.2]", loss="lambdarank", train=split.train)
