"""Trees in the words of each engine.

XGBoost is set to grow as LightGBM does (leaf by leaf, on histograms, without its default penalty), so that the two
differ in their code only, and in one limit: XGBoost cannot ask for a number of documents in a leaf.
"""

from __future__ import annotations

import warnings
from typing import Any

from rankplug.errors import FitError
from rankplug.training import of_engine
from rankplug_scorers.plugin import Linear, Trees


def lightgbm_settings(trees: Trees) -> dict[str, Any]:
    """Return the settings for LightGBM's ``params``."""
    return {
        "boosting": trees.boosting,
        "num_leaves": trees.leaves,
        "learning_rate": trees.learning_rate,
        "min_data_in_leaf": trees.min_data,
        # A bin need not hold more documents than a leaf must.
        "min_data_in_bin": min(3, max(trees.min_data, 1)),
        "min_sum_hessian_in_leaf": trees.min_hessian,
        "max_bin": trees.max_bin,
        "max_depth": trees.max_depth or -1,
        "lambda_l2": trees.l2,
        "bagging_fraction": trees.bagging,
        "bagging_freq": trees.bagging_frequency if trees.bagging < 1 else 0,
        "feature_fraction": trees.feature_fraction,
        "drop_rate": trees.drop_rate,
        "linear_tree": trees.linear_tree,
        **_for_backends(trees, "lightgbm"),
    }


def xgboost_settings(trees: Trees) -> dict[str, Any]:
    """Return the settings for XGBoost's ``params``."""
    if trees.linear_tree:
        warnings.warn("XGBoost has no linear models in leaves; linear_tree is left out", stacklevel=2)
    settings = {
        "booster": "dart" if trees.boosting == "dart" else "gbtree",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": trees.leaves,
        "max_depth": trees.max_depth,
        "eta": trees.learning_rate,
        "min_child_weight": trees.min_hessian,
        "max_bin": trees.max_bin,
        "reg_lambda": trees.l2,
        "subsample": trees.bagging,
        "colsample_bytree": trees.feature_fraction,
        **_for_backends(trees, "xgboost"),
    }
    return settings | ({"rate_drop": trees.drop_rate} if trees.boosting == "dart" else {})


def _for_backends(trees: Trees, engine: str) -> dict[str, Any]:
    """Return what backends translate by themselves, as it needs the data or the engine."""
    roles = {role: getattr(trees, role) for role in ("categorical", "increasing", "decreasing") if getattr(trees, role)}
    if trees.query_bagging < 1 and trees.bagging < 1:
        raise FitError("bagging samples documents and query_bagging whole queries; leave one of them away")
    sampling = {"query_bagging": (trees.query_bagging, trees.bagging_frequency)} if trees.query_bagging < 1 else {}
    return roles | sampling | ({"engine": of_engine(trees.engine, engine)} if trees.engine else {})


def xgboost_linear_settings(linear: Linear) -> dict[str, Any]:
    """Return the settings for XGBoost's ``params``: coordinate descent, one feature after another."""
    return {
        "booster": "gblinear",
        "updater": "coord_descent",
        "feature_selector": "cyclic",
        "eta": linear.learning_rate,
        "reg_lambda": linear.l2,
    }
