"""A scikit-learn estimator around :func:`rankplug.fit`.

>>> import numpy as np
>>> from rankplug import Ranker
>>> X = np.random.default_rng(0).normal(size=(200, 3))
>>> y, qid = (X[:, 0] > 0).astype(int), np.repeat(np.arange(20), 10)
>>> ranker = Ranker("cross_entropy", scorer="trees[rounds=10,leaves=4]").fit(X, y, qid=qid)
>>> round(ranker.score(X, y, qid=qid), 3)
1.0

With ``sklearn.set_config(enable_metadata_routing=True)``, ``qid`` reaches it through ``GridSearchCV`` and pipelines
automatically. Without routing scikit-learn passes no query ids to ``score``, which then raises an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from rankplug.data import ClickCounts, Lists, check_clicks
from rankplug.errors import DataError, FitError
from rankplug.metrics import metric
from rankplug.system import distinct, identifiers, numbers, refuse_masked
from rankplug.training import LOSS, Model, fit, metric_names

ALLOWED: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float32, "ensure_all_finite": "allow-nan"}
"""What scikit-learn's validation lets through."""


class Ranker(BaseEstimator):  # type: ignore[misc]
    """Ranks the rows of a matrix inside their queries.

    Args:
        loss: the loss to minimise, such as ``"urank"``.
        backend: the engine, such as ``"torch[epochs=20]"``.
        scorer: the scorer to fit, such as ``"mlp[layers=(64,32)]"``; the backend's usual one when absent.
        sampler: averages the loss over noise on the scores.
        selection: metric that chooses the iteration on ``eval_set`` and that :meth:`score` returns; of several, the
            first is returned.
        patience: iterations without improvement after which training stops.
        debias: takes the bias of positions out of the clicks of :meth:`fit`, such as ``"ips"``.
        seed: random seed.
        progress: whether to show a bar; by default in a terminal or a notebook.
    """

    __metadata_request__fit: ClassVar = {"qid": True}
    __metadata_request__score: ClassVar = {"qid": True}
    __metadata_request__predict: ClassVar = {"qid": True}

    model_: Model
    categories_: dict[str, Any]

    def __init__(
        self,
        loss: str = "xe_ndcg",
        *,
        backend: str = "lightgbm",
        scorer: str | None = None,
        sampler: str | None = None,
        selection: str | Sequence[str] = "ndcg@5",
        patience: int | None = None,
        debias: str | None = None,
        seed: int = 0,
        progress: bool | None = None,
    ) -> None:
        self.loss = loss
        self.backend = backend
        self.scorer = scorer
        self.sampler = sampler
        self.selection = selection
        self.patience = patience
        self.debias = debias
        self.seed = seed
        self.progress = progress

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: tuple[Any, ...] | None = None,
        clicks: ClickCounts | None = None,
    ) -> Ranker:
        """Fit the scorer.

        Args:
            X: one row a document: an array, a sparse matrix or a data frame, whose columns name the features; those of
                the type ``category`` and of text are categorical, and their categories are stored as ``categories_``.
            y: relevance of each, zero or more; with ``debias``, labels of the clicks take its place.
            qid: the query of each; rows of a query need not lie together.
            group: instead of ``qid``, the number of rows of each query, one query after another.
            sample_weight: one a row; rows of one query need equal weights unless trees are boosted or the loss is
                pointwise.
            eval_set: ``(X, y, qid)`` of lists that choose the iteration, or ``(X, y, qid, clicks)``.
            clicks: how often each row was shown and clicked at each position, for ``debias``.
        """
        features, labels = self._checked(X, y, reset=True)
        ids = _query_ids(len(features), qid, group, "Ranker.fit")
        order, train = self._packed(features, labels, ids, clicks)
        refuse_masked(sample_weight, "sample_weight")
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, features, dtype=np.float64)
        self.model_ = fit(
            self.backend,
            scorer=self.scorer,
            loss=self.loss,
            sampler=self.sampler,
            train=train,
            valid=self._valid(eval_set),
            seed=self.seed,
            selection=self.selection,
            patience=self.patience,
            weights=None if weights is None else weights[order],
            progress=self.progress,
            debias=self.debias,
        )
        return self

    def _valid(self, eval_set: tuple[Any, ...] | None) -> Lists | None:
        if eval_set is None:
            return None
        if len(eval_set) not in (3, 4):
            raise DataError(f"eval_set must be (X, y, qid) or (X, y, qid, clicks), got {len(eval_set)} parts")
        features, labels = self._checked(eval_set[0], eval_set[1], reset=False)
        ids = _query_ids(len(features), eval_set[2], None, "eval_set")
        return self._packed(features, labels, ids, *eval_set[3:])[1]

    def predict(self, X: Any, *, qid: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return one score a row, the higher the better; ``qid`` matters only to scorers that compare documents."""
        check_is_fitted(self)
        features = self._features(X)
        if qid is None:
            return self.model_.predict(features)
        ids = _query_ids(len(features), qid, None, "Ranker.predict")
        order, lists = self._packed(features, np.zeros(len(features)), ids)
        scores = np.empty(len(features))
        scores[order] = self.model_.predict(lists)
        return scores

    def score(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean of the metric over queries; a query weighs the mean of its rows' weights.

        Args:
            X: one row a document.
            y: relevance of each, zero or more.
            qid: the query of each.
            group: instead of ``qid``, the number of rows of each query, one query after another.
            sample_weight: one a row.
        """
        check_is_fitted(self)
        features, labels = self._checked(X, y, reset=False)
        order, lists = self._packed(features, labels, _query_ids(len(features), qid, group, "Ranker.score"))
        name = next((name for name in metric_names(self.selection) if name != LOSS), "ndcg@5")
        value = metric(name)(self.model_.predict(lists), lists.labels, lists.starts)
        refuse_masked(sample_weight, "sample_weight")
        weights = _check_sample_weight(sample_weight, features, dtype=np.float64)[order]
        of_lists = np.add.reduceat(weights, lists.starts[:-1]) / lists.lengths
        defined = ~np.isnan(value)
        return float(np.average(value[defined], weights=of_lists[defined])) if defined.any() else float("nan")

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's share of what all splits gained; only of trees."""
        check_is_fitted(self)
        try:
            return self.model_.feature_importances()
        except FitError as error:
            # So that scikit-learn finds no such attribute, as of its own estimators without trees.
            raise AttributeError(str(error)) from None

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[NDArray[np.float32], NDArray[Any]]:
        refuse_masked(X, "X")
        refuse_masked(y, "y")
        features, labels = validate_data(
            self,
            self._encoded(X, reset),
            y,
            reset=reset,
            y_numeric=True,
            ensure_min_samples=2 if reset else 1,
            **ALLOWED,
        )
        return _dense(features), labels

    def _features(self, X: Any) -> NDArray[np.float32]:
        refuse_masked(X, "X")
        return _dense(validate_data(self, self._encoded(X, False), reset=False, **ALLOWED))

    def _encoded(self, X: Any, reset: bool) -> Any:
        """Return a data frame whose columns of categories and text hold the codes of their levels in fit; else X."""
        if reset:
            columns = X if hasattr(X, "assign") and hasattr(X, "dtypes") else ()
            named = [name for name in columns if _holds_names(X[name])]
            self.categories_ = {name: X[name].astype("category").cat.categories for name in named}
        if not self.categories_:
            return X
        if missing := [name for name in self.categories_ if name not in getattr(X, "columns", ())]:
            raise DataError(
                f"the model was trained on a data frame with the categories of {missing[0]}; give one again"
            )
        codes = {name: known.get_indexer(X[name].astype(object)) for name, known in self.categories_.items()}
        # A category that fit has not seen is as a missing value.
        return X.assign(**{name: np.where(code < 0, np.nan, code) for name, code in codes.items()})

    def _packed(
        self, features: NDArray[np.float32], labels: NDArray[Any], ids: NDArray[Any], clicks: ClickCounts | None = None
    ) -> tuple[NDArray[np.int64], Lists]:
        """Group rows by query, queries in the order of their first row; return that order of rows, and the lists."""
        queries = distinct(ids, "qid")
        order = np.argsort(queries.indices[queries.inverse_indices], kind="stable")
        if clicks is not None:
            clicks = _checked_clicks(clicks, len(ids))[order]
        if not (order[1:] > order[:-1]).all():
            features, labels, ids = features[order], labels[order], ids[order]
        lists = Lists.from_query_ids(features, labels, ids)
        names = tuple(getattr(self, "feature_names_in_", ()))
        levels = {name: tuple(map(str, categories)) for name, categories in self.categories_.items()}
        return order, replace(lists, feature_names=names, categories=levels, clicks=clicks)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _checked_clicks(clicks: ClickCounts, rows: int) -> ClickCounts:
    check_clicks(clicks)
    if len(clicks) != rows:
        raise DataError(f"there are clicks on {len(clicks)} documents, but {rows} rows; give one row each")
    return clicks


def _holds_names(column: Any) -> bool:
    """Tell whether a column of a data frame holds categories or text."""
    import pandas as pd

    return hasattr(column.dtype, "categories") or pd.api.types.infer_dtype(column, skipna=True) == "string"


def _dense(features: Any) -> NDArray[np.float32]:
    return np.ascontiguousarray(features.toarray() if hasattr(features, "toarray") else features)


def _query_ids(rows: int, qid: ArrayLike | None, group: ArrayLike | None, where: str) -> NDArray[Any]:
    """Return the query of each row."""
    if qid is None and group is None:
        raise DataError(
            f"{where} needs qid, the query of each row, or group, the number of rows of each query; inside"
            " GridSearchCV, cross_validate or a pipeline turn on metadata routing, by which qid reaches fit and score:"
            " sklearn.set_config(enable_metadata_routing=True)"
        )
    if qid is not None and group is not None:
        raise DataError("give qid or group, not both")
    if group is not None:
        sizes = numbers(group, "group", "int64")
        if sizes.min(initial=0) < 0:
            raise DataError(f"a group of {sizes.min()} rows is not possible; every query has at least one")
        if sizes.sum() != rows:
            raise DataError(f"the group sizes add up to {sizes.sum()}, but there are {rows} rows")
        return np.repeat(np.arange(sizes.size), sizes)
    ids = identifiers(qid, "qid")
    if ids.shape != (rows,):
        raise DataError(f"qid must name the query of each row: {rows} rows, qid of shape {ids.shape}")
    return ids
