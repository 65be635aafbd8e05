"""The scikit-learn estimator follows scikit-learn's conventions and gives what rp.fit gives."""

from __future__ import annotations

import pickle
from datetime import date, timedelta

import numpy as np
import optuna
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankplug as rp
from rankplug.errors import DataError

SMALL = {"scorer": "trees[rounds=5,leaves=4,min_data=1]"}


@pytest.fixture(scope="module")
def data():
    noise = np.random.default_rng(0)
    X = noise.normal(size=(300, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.3 * noise.normal(size=300), [0.5, 1.5])
    return X, y, np.repeat(np.arange(30), 10)


WEIGHT_ZERO = "a document of weight 0 has no pull of its own but still competes with the others of its list"
WEIGHTS_INSIDE_A_LIST = "L-BFGS needs the value of the loss, which has one weight a list"


def not_for_lists(estimator):
    equivalence = dict.fromkeys(
        (f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")), WEIGHT_ZERO
    )
    lbfgs = estimator.backend.startswith("lbfgs")
    return equivalence | ({"check_sample_weights_not_overwritten": WEIGHTS_INSIDE_A_LIST} if lbfgs else {})


class OneQueryRanker(rp.Ranker):
    """Takes all rows as one query where none is named, as scikit-learn's checks know nothing of queries."""

    def fit(self, X, y, *, qid=None, group=None, **others):
        return super().fit(X, y, qid=one_query(X, qid, group), group=group, **others)

    def score(self, X, y, *, qid=None, group=None, **others):
        return super().score(X, y, qid=one_query(X, qid, group), group=group, **others)


def one_query(X, qid, group):
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    return np.zeros(rows, np.int64) if qid is None and group is None else qid


@parametrize_with_checks(
    [OneQueryRanker("cross_entropy", **SMALL), OneQueryRanker("cross_entropy", backend="lbfgs[iterations=20]")],
    expected_failed_checks=not_for_lists,
)
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_it_gives_what_fit_gives(data):
    X, y, qid = data
    ranker = rp.Ranker("cross_entropy", seed=3, **SMALL).fit(X, y, qid=qid, eval_set=(X, y, qid))
    lists = rp.Lists.from_query_ids(X, y, qid)
    model = rp.fit("lightgbm", loss="cross_entropy", train=lists, valid=lists, seed=3, **SMALL)
    np.testing.assert_array_equal(ranker.predict(X), model.predict(lists))
    assert ranker.score(X, y, qid=qid) == pytest.approx(rp.evaluate(model, lists, "ndcg@5").mean())


def test_rows_of_a_query_may_lie_apart(data):
    X, y, qid = data
    together = rp.Ranker("cross_entropy", **SMALL).fit(X, y, qid=qid)
    mixed = np.argsort(np.tile(np.arange(10), 30), kind="stable")
    apart = rp.Ranker("cross_entropy", **SMALL).fit(X[mixed], y[mixed], qid=qid[mixed], sample_weight=np.ones(300))
    np.testing.assert_allclose(apart.predict(X), together.predict(X), rtol=1e-12)
    assert apart.score(X[mixed], y[mixed], qid=qid[mixed]) == pytest.approx(together.score(X, y, qid=qid))


def test_a_weight_goes_with_its_row(data):
    X, y, qid = data
    weight = np.where(qid < 15, 1.0, 0.0)
    mixed = np.random.default_rng(1).permutation(300)
    here = rp.Ranker("cross_entropy", backend="lbfgs[scaling=none]").fit(X, y, qid=qid, sample_weight=weight)
    there = rp.Ranker("cross_entropy", backend="lbfgs[scaling=none]").fit(
        X[mixed], y[mixed], qid=qid[mixed], sample_weight=weight[mixed]
    )
    half = rp.Ranker("cross_entropy", backend="lbfgs[scaling=none]").fit(X[qid < 15], y[qid < 15], qid=qid[qid < 15])
    np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(half.predict(X), here.predict(X), rtol=1e-4, atol=1e-5)


def test_group_sizes_do_as_well_as_query_ids(data):
    X, y, qid = data
    by_id = rp.Ranker("cross_entropy", **SMALL).fit(X, y, qid=qid)
    by_size = rp.Ranker("cross_entropy", **SMALL).fit(X, y, group=[10] * 30)
    np.testing.assert_array_equal(by_size.predict(X), by_id.predict(X))


@pytest.mark.parametrize("kind", ["csr", "csc", "pandas", "polars", "list"])
def test_matrices_of_other_kinds_give_the_same_model(kind, data):
    X, y, qid = data
    if kind in ("csr", "csc"):
        other = scipy.sparse.csr_matrix(X).asformat(kind)
    elif kind == "list":
        other = X.tolist()
    else:
        other = pytest.importorskip(kind).DataFrame({f"feature {i}": X[:, i] for i in range(4)})
    expected = rp.Ranker("cross_entropy", **SMALL).fit(X, y, qid=qid).predict(X)
    np.testing.assert_array_equal(rp.Ranker("cross_entropy", **SMALL).fit(other, y, qid=qid).predict(other), expected)


def test_a_pickled_ranker_predicts_the_same(data):
    X, y, qid = data
    ranker = rp.Ranker("cross_entropy", **SMALL).fit(X, y, qid=qid)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(X), ranker.predict(X))


def test_a_grid_search_keeps_queries_together_by_metadata_routing(data):
    X, y, qid = data
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            rp.Ranker("cross_entropy"),
            {"scorer": ["trees[rounds=1,leaves=2]", "trees[rounds=20,leaves=8,min_data=1]"]},
            cv=GroupKFold(3),
            error_score="raise",
        ).fit(X, y, qid=qid, groups=qid)
    assert search.best_params_ == {"scorer": "trees[rounds=20,leaves=8,min_data=1]"}
    alone = clone(search.best_estimator_).fit(X[qid < 20], y[qid < 20], qid=qid[qid < 20])
    assert 0.5 < alone.score(X[qid >= 20], y[qid >= 20], qid=qid[qid >= 20]) <= 1


def test_optuna_searches_over_losses_with_queries_kept_together(data):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    X, y, qid = data

    def quality(trial):
        loss = trial.suggest_categorical("loss", ["xe_ndcg", "lambdarank"])
        rounds = trial.suggest_int("rounds", 1, 20)
        ranker = rp.Ranker(loss, scorer=f"trees[rounds={rounds},leaves=8,min_data=1]")
        with sklearn.config_context(enable_metadata_routing=True):
            found = cross_validate(
                ranker, X, y, cv=GroupKFold(3), params={"qid": qid, "groups": qid}, error_score="raise"
            )
        return found["test_score"].mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(quality, n_trials=4)
    assert study.best_value == max(trial.value for trial in study.trials) > study.trials[-1].value - 1e-9
    assert study.best_value > 0.9


@pytest.mark.parametrize("named", [True, False], ids=["qid named", "qid forgotten"])
@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:One or more of the test scores")
def test_without_metadata_routing_a_grid_search_gives_no_score_and_tells_why(named, data):
    X, y, qid = data
    search = GridSearchCV(
        rp.Ranker("cross_entropy", **SMALL), {"seed": [0]}, cv=GroupKFold(3), error_score="raise", refit=False
    )
    with pytest.raises(DataError, match=r"needs qid.*enable_metadata_routing=True"):
        search.fit(X, y, groups=qid, **({"qid": qid} if named else {}))


def test_queries_of_any_kind_that_can_be_sorted_will_do(data):
    X, y, qid = data
    days = np.array([date(2024, 1, 1) + timedelta(int(one)) for one in qid], dtype=object)
    scores = rp.Ranker("mse", **SMALL).fit(X, y, qid=days).predict(X)
    np.testing.assert_array_equal(scores, rp.Ranker("mse", **SMALL).fit(X, y, qid=qid).predict(X))
    for unsorted in (np.array([object() for _ in qid]), np.array([{"query": one} for one in qid])):
        with pytest.raises(DataError, match="qid must be of a kind that can be sorted, such as numbers or texts"):
            rp.Ranker("mse", **SMALL).fit(X, y, qid=unsorted)
        with pytest.raises(DataError, match="query ids must be of a kind that can be sorted"):
            rp.Lists.from_query_ids(X, y, unsorted)


def test_without_queries_nothing_is_fitted_nor_scored(data):
    X, y, qid = data
    with pytest.raises(DataError, match=r"^Ranker\.fit needs qid"):
        rp.Ranker("cross_entropy", **SMALL).fit(X, y)
    ranker = rp.Ranker("cross_entropy", **SMALL).fit(X, y, qid=qid)
    with pytest.raises(DataError, match=r"^Ranker\.score needs qid"):
        ranker.score(X, y)
    assert ranker.score(X, y, group=[10] * 30) == ranker.score(X, y, qid=qid) != ranker.score(X, y, group=[300])


def test_a_grid_search_scores_each_fold_query_by_query(data):
    X, y, qid = data
    ranker = rp.Ranker("cross_entropy", backend="lbfgs[iterations=20]")
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(ranker, {"seed": [0]}, cv=GroupKFold(3)).fit(X, y, qid=qid, groups=qid)
    expected = []
    for inside, held in GroupKFold(3).split(X, y, qid):
        scores = clone(ranker).fit(X[inside], y[inside], qid=qid[inside]).predict(X[held])
        queries = [qid[held] == one for one in np.unique(qid[held])]
        gains = [sklearn.metrics.ndcg_score([2.0 ** y[held][query] - 1], [scores[query]], k=5) for query in queries]
        expected.append(np.mean([gain for query, gain in zip(queries, gains, strict=True) if y[held][query].any()]))
    assert [search.cv_results_[f"split{fold}_test_score"][0] for fold in range(3)] == pytest.approx(expected)


def test_it_stands_at_the_end_of_a_pipeline(data):
    X, y, qid = data
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), rp.Ranker("cross_entropy", backend="lbfgs[scaling=none]")).fit(
            X, y, qid=qid
        )
        assert pipeline.score(X, y, qid=qid) > 0.9


def test_a_scorer_that_compares_documents_is_told_the_queries(data):
    X, y, qid = data
    ranker = rp.Ranker("cross_entropy", backend="torch[epochs=1]", scorer="attention[width=4]").fit(X, y, qid=qid)
    with pytest.raises(DataError, match="compares the documents"):
        ranker.predict(X)
    mixed = np.random.default_rng(0).permutation(300)
    np.testing.assert_allclose(
        ranker.predict(X[mixed], qid=qid[mixed]), ranker.predict(X, qid=qid)[mixed], rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"qid": np.zeros(300), "group": [300]}, "qid or group, not both"),
        ({"group": [100]}, "add up to 100, but there are 300 rows"),
        ({"qid": np.zeros(7)}, r"300 rows, qid of shape \(7,\)"),
    ],
)
def test_wrong_groups_and_weights_are_named(given, sentence, data):
    X, y, _ = data
    with pytest.raises(DataError, match=sentence):
        rp.Ranker("cross_entropy", **SMALL).fit(X, y, **given)


@pytest.mark.parametrize("backend", ["lightgbm", "xgboost"])
def test_the_feature_that_decides_is_the_most_important_one(backend):
    X = np.random.default_rng(0).normal(size=(400, 4))
    y, qid = (X[:, 2] > 0).astype(int), np.repeat(np.arange(40), 10)
    ranker = rp.Ranker("xe_ndcg", backend=backend, scorer="trees[rounds=5,leaves=4]").fit(X, y, qid=qid)
    assert ranker.feature_importances_.shape == (4,)
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    assert ranker.feature_importances_[2] > 0.9
    linear = rp.Ranker("xe_ndcg", backend="lbfgs").fit(X, y, qid=qid)
    assert not hasattr(linear, "feature_importances_")
