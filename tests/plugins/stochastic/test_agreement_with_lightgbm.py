"""``lambdarank`` is LightGBM's own objective: to single precision as such, and bit by bit with its arithmetic."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest

import rankplug as rp

SETTINGS = {
    "learning_rate": 0.1,
    "num_leaves": 15,
    "min_data_in_leaf": 5,
    "num_threads": 1,
    "deterministic": True,
    "verbose": -1,
    "seed": 1,
}


@pytest.fixture(scope="module")
def ranking_data():
    """Make sixty queries of one to sixty documents."""
    generator = np.random.default_rng(0)
    lengths = generator.integers(1, 60, 60)
    features = generator.normal(size=(lengths.sum(), 8))
    relevance = features[:, 0] + 0.5 * features[:, 1] * features[:, 2] + generator.normal(size=lengths.sum())
    return features, np.clip(np.round(relevance), 0, 4), lengths


def trained(objective, data, trees=50, **parameters):
    features, labels, lengths = data
    dataset = lgb.Dataset(features, labels, group=lengths)
    return lgb.train({**SETTINGS, "objective": objective, **parameters}, dataset, trees)


def ours(name, data):
    """Return a loss as LightGBM calls a custom objective."""
    _, labels, lengths = data
    objective = rp.loss(name).on(labels, np.concatenate(([0], np.cumsum(lengths))), step="newton")

    def derivatives(scores, dataset):
        evaluation = objective(scores, dtype=np.float32, valued=False)
        return evaluation.gradient, evaluation.curvature

    return derivatives


@pytest.mark.parametrize(
    ("native", "name"),
    [
        ({}, "lambdarank[norm=true,truncation=30,arithmetic=lightgbm]"),
        ({"lambdarank_truncation_level": 5}, "lambdarank[norm=true,truncation=5,arithmetic=lightgbm]"),
        (
            {"sigmoid": 2.0, "lambdarank_norm": False, "lambdarank_truncation_level": 1000},
            "lambdarank[sigma=2,truncation=1000,arithmetic=lightgbm]",
        ),
    ],
)
def test_fifty_trees_are_bit_identical_in_its_arithmetic(ranking_data, native, name):
    theirs = trained("lambdarank", ranking_data, **native).predict(ranking_data[0])
    assert (trained(ours(name, ranking_data), ranking_data).predict(ranking_data[0]) == theirs).all()


@pytest.mark.parametrize(
    ("native", "name"),
    [
        ({}, "lambdarank[norm=true,truncation=30]"),
        ({"sigmoid": 2.0, "lambdarank_norm": False, "lambdarank_truncation_level": 1000}, "lambdarank[sigma=2]"),
    ],
)
def test_newton_steps_agree_with_one_document_a_leaf(native, name):
    """Each leaf is then minus the gradient over the curvature; the table of sigmoids has 2^20 bins."""
    generator = np.random.default_rng(1)
    scores, labels = generator.normal(size=40), generator.integers(0, 5, 40).astype(float)
    alone = {"num_leaves": 40, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0.0, "learning_rate": 1.0}
    dataset = lgb.Dataset(
        np.arange(40.0)[:, None], labels, group=[40], init_score=scores, params={"min_data_in_bin": 1}
    )
    booster = lgb.train({**SETTINGS, **alone, "objective": "lambdarank", **native}, dataset, 1)
    evaluation = rp.loss(name).evaluate(scores, labels, [0, 40])
    leaves = booster.predict(np.arange(40.0)[:, None], pred_leaf=True).ravel()
    alone = np.bincount(leaves)[leaves] == 1
    assert alone.sum() >= 30
    steps = booster.predict(np.arange(40.0)[:, None])
    np.testing.assert_allclose(steps[alone], -(evaluation.gradient / evaluation.curvature)[alone], rtol=1e-3)
