r"""Importance of features for the order of documents inside their queries, with intervals over queries.

For trees it is computed from SHAP values, the contribution of each feature to the score of each document (Lundberg et
al. 2020, as LightGBM and XGBoost compute them). A contribution that all documents of a query share changes no order, so
importance is the mean distance of a feature's contributions from their query's mean. For other models it is computed by
permutation (Breiman 2001): the fall of a metric when the feature's values are permuted inside each query.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Lists
from rankplug.errors import DataError, ParameterError
from rankplug.metrics import Metric
from rankplug.registry import Named
from rankplug.statistics import t_interval
from rankplug.system import generator, whole_number
from rankplug.training import Model

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Method = Literal["shap", "permutation"]


def explain(
    model: Model,
    lists: Lists,
    *,
    method: Method | None = None,
    metric: Named | Metric = "ndcg@10",
    repeats: int = 3,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the importance of each feature, the highest first, with a 95 % interval over queries.

    Args:
        model: a fitted model.
        lists: documents on which the model is explained.
        method: ``shap`` values of trees, in units of the score, or ``permutation``, in units of the metric; by default
            ``shap`` where the model has trees.
        metric: the metric whose fall is measured by permutation.
        repeats: number of permutations of each feature, over which the mean is taken.
        seed: random seed of the permutations.
    """
    import pandas as pd

    for value, kind, name in ((model, Model, "model"), (lists, Lists, "lists")):
        if not isinstance(value, kind):
            raise DataError(f"{name} must be a rankplug.{kind.__name__}, got {type(value).__name__}")
    if method is not None and method not in get_args(Method):
        raise ParameterError(f"method is shap or permutation, not {method!r}")
    if not len(lists):
        raise DataError("there is no list to explain")
    whole_number(repeats, "repeats", least=1)
    whole_number(seed, "seed")
    features = model.features_of(lists)
    contributions = None if method == "permutation" else model.contributions(features)
    if contributions is None and method == "shap":
        raise DataError(f"{model!r} has no trees, whose SHAP values engines compute; take method='permutation'")
    if contributions is not None:
        by_query, unit = _distances(contributions, lists), "score"
    else:
        quality = Metric.named(metric)
        encoded = replace(lists, features=features, feature_names=(), categorical=(), categories={})
        by_query, unit = _falls(model, encoded, quality, repeats, seed), str(quality)
    names = model.input_names or lists.feature_names or model.feature_names()
    rows = []
    for name, values in zip(names, by_query.T, strict=True):
        interval = t_interval(values, unit="queries")
        rows.append((name, interval.point, interval.low, interval.high))
    frame = pd.DataFrame(rows, columns=["feature", "importance", "low", "high"])
    frame = frame.sort_values("importance", ascending=False, kind="stable", ignore_index=True)
    frame.attrs |= {"method": "shap" if contributions is not None else "permutation", "unit": unit,
                    "queries": by_query.shape[0]}  # fmt: skip
    return frame


def _distances(contributions: NDArray[np.float64], lists: Lists) -> NDArray[np.float64]:
    """Return, for each query and feature, the mean distance of contributions from their query's mean."""
    firsts, lengths = lists.starts[:-1], lists.lengths[:, None]
    means = np.add.reduceat(contributions, firsts, axis=0) / lengths
    distances = np.abs(contributions - np.repeat(means, lists.lengths, axis=0))
    return np.asarray(np.add.reduceat(distances, firsts, axis=0) / lengths)


def _falls(model: Model, lists: Lists, metric: Metric, repeats: int, seed: int) -> NDArray[np.float64]:
    """Return, for each query with a value and each feature, the fall of the metric when its values are permuted."""
    whole = metric(model.predict(lists), lists.labels, lists.starts)
    counted = ~np.isnan(whole)
    if not counted.any():
        raise DataError(f"no query has a value of {metric}, whose fall could be measured")
    falls = np.zeros((int(counted.sum()), lists.features.shape[1]))
    features = lists.features.copy()
    moved = Lists(features, lists.labels, lists.starts, lists.query_ids)
    for column in range(features.shape[1]):
        own = lists.features[:, column]
        for repeat in range(repeats):
            noise = generator(seed, "explain", column, repeat).random(lists.documents)
            features[:, column] = own[np.lexsort((noise, lists.query_of_document))]
            value = metric(model.predict(moved), lists.labels, lists.starts)
            falls[:, column] += (whole - value)[counted] / repeats
        features[:, column] = own
    return falls


def draw_explanation(explanation: pd.DataFrame, features: int = 20) -> Figure:
    """Draw the importance of the first features of an explanation, with intervals."""
    from rankplug.plotting import PALETTE, new_figure

    shown = explanation.head(features)[::-1]
    figure, axes = new_figure(height=0.7 + 0.22 * len(shown))
    places = np.arange(len(shown))
    reach: Any = np.nan_to_num([shown["importance"] - shown["low"], shown["high"] - shown["importance"]])
    axes.errorbar(shown["importance"], places, xerr=reach, fmt="o", color=PALETTE[0], markersize=4)
    axes.set_yticks(places, shown["feature"], parse_math=False)
    axes.axvline(0.0, color="0.7", linewidth=0.8)
    about = explanation.attrs
    axes.set_xlabel(
        "mean |SHAP| inside a query, in units of the score"
        if about["method"] == "shap"
        else f"fall of {about['unit']} when its values are permuted"
    )
    return figure
