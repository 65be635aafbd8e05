"""The scikit-learn estimator follows scikit-learn's conventions and gives what rp.fit gives."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
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


@pytest.mark.parametrize("kind", ["csr", "pandas", "polars"])
def test_matrices_of_other_kinds_give_the_same_model(kind, data):
    X, y, qid = data
    if kind == "csr":
        other = scipy.sparse.csr_matrix(X)
    else:
        other = pytest.importorskip(kind).DataFrame({f"feature {i}": X[:, i] for i in range(4)})
    expected = rp.Ranker("cross_entropy", **SMALL).fit(X, y, qid=qid).predict(X)
    np.testing.assert_array_equal(rp.Ranker("cross_entropy", **SMALL).fit(other, y, qid=qid).predict(other), expected)


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
