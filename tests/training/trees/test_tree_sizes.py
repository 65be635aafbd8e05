"""Trees have as many leaves, and see as few features, as the training data bear, in the engine's own model too."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rankplug as rp


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
