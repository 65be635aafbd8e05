"""The trees, or the weights, of an XGBoost model as arrays, from its JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from rankplug_export import Tree, TreeEnsemble, below, tree_of

from rankplug.errors import FitError


def ensemble_of(booster: xgb.Booster, features: int) -> TreeEnsemble:
    """Return the trees of a model."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    trained = learner["gradient_booster"]
    weights = trained.get("weight_drop")
    trees = trained["gbtree"]["model"]["trees"] if "gbtree" in trained else trained["model"]["trees"]
    factors = weights if weights is not None else [1.0] * len(trees)
    return TreeEnsemble.of_trees(
        [_tree(*pair) for pair in zip(trees, factors, strict=True)],
        features,
        booster.feature_names or [f"f{feature}" for feature in range(features)],
        base=_base(learner),
        single=True,
    )


def weights_of(booster: xgb.Booster, features: int) -> tuple[NDArray[np.float64], float]:
    """Return the weights of a linear model, of shape (features,), and the constant that it adds to all scores."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    weights = np.array(learner["gradient_booster"]["model"]["weights"], np.float64)
    return weights[:features], float(weights[features]) + _base(learner)


def _base(learner: dict[str, Any]) -> float:
    return float(str(learner["learner_model_param"]["base_score"]).strip("[]").split(",")[0])


def _tree(fields: dict[str, Any], factor: float) -> Tree:
    if any(fields.get("split_type", ())):
        raise FitError("trees that split categories have no form in other programs; encode categories as numbers first")
    left = np.array(fields["left_children"], np.int64)
    leaf = left < 0
    conditions = np.array(fields["split_conditions"], np.float32)
    return tree_of(
        np.where(leaf, -1, np.array(fields["split_indices"], np.int64)),
        # XGBoost goes left below its condition.
        below(conditions),
        np.array(fields["default_left"], np.bool_),
        np.where(leaf, 0, left),
        np.where(leaf, 0, np.array(fields["right_children"], np.int64)),
        np.where(leaf, conditions * np.float32(factor), 0.0),
    )
