"""The trees of a LightGBM model as arrays, from its text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from rankplug_export import Tree, TreeEnsemble, at_most, tree_of

from rankplug.errors import FitError

CATEGORICAL, DEFAULT_LEFT = 1, 2
MISSING_NONE, MISSING_ZERO = 0, 1
TREE = re.compile(r"^Tree=\d+\n(.*?)\n\n", re.MULTILINE | re.DOTALL)


def ensemble_of(text: str) -> TreeEnsemble:
    """Return the trees of a model."""
    head = dict(re.findall(r"^(\w+)=(.*)$", text.partition("\nTree=")[0], re.MULTILINE))
    trees = [_tree(dict(re.findall(r"^(\w+)=(.*)$", match[1], re.MULTILINE))) for match in TREE.finditer(text)]
    names = head["feature_names"].split()
    return TreeEnsemble.of_trees(trees, int(head["max_feature_idx"]) + 1, names)


def _tree(fields: dict[str, str]) -> Tree:
    def numbers(name: str, kind: Any) -> Any:
        return np.array(fields.get(name, "").split(), dtype=kind)

    if fields.get("is_linear", "0") != "0":
        raise FitError(
            "trees with linear models in their leaves have no form in other programs; leave linear_tree away"
        )
    decisions, leaves = numbers("decision_type", np.int64), numbers("leaf_value", np.float64)
    if (decisions & CATEGORICAL).any():
        raise FitError("trees that split categories have no form in other programs; encode categories as numbers first")
    missing = (decisions >> 2) & 3
    if (missing == MISSING_ZERO).any():
        raise FitError("trees that take 0 for missing have no form in other programs; leave zero_as_missing away")
    splits = decisions.size
    threshold = numbers("threshold", np.float64)
    # Without missing values in training, LightGBM takes one for 0.
    missing_left = np.where(missing == MISSING_NONE, threshold >= 0, (decisions & DEFAULT_LEFT) > 0)
    children = [numbers(name, np.int64) for name in ("left_child", "right_child")]
    # A negative child is a leaf; leaves come after the splits.
    left, right = (np.where(child < 0, splits + ~child, child) for child in children)
    none = np.zeros(leaves.size, np.int64)
    return tree_of(
        np.concatenate([numbers("split_feature", np.int64), none - 1]),
        np.concatenate([at_most(threshold), none]),
        np.concatenate([missing_left, none]),
        np.concatenate([left, none]),
        np.concatenate([right, none]),
        np.concatenate([np.zeros(splits), leaves]),
    )
