"""Every installed loss trains with a backend of each kind."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp
from rankplug.registry import LossSpecification, registry

LOSSES = {
    plugin.specification.name: plugin.specification
    for plugin in registry().plugins("loss")
    if isinstance(plugin.specification, LossSpecification)
}
BACKENDS = [
    ("lightgbm", "trees[leaves=4,rounds=3,min_data=2,min_hessian=0]"),
    ("torch[epochs=2,batch=4,lr=0.01]", "mlp[layers=(4,)]"),
    ("lbfgs[iterations=3,restarts=1]", "linear"),
]
"""A backend for each use of a loss: gradient and curvature, gradient, value and gradient."""
FURTHER_BACKENDS = [
    ("xgboost", "trees[leaves=4,rounds=3,min_hessian=0]"),
    ("xgboost", "linear[rounds=3]"),
    ("rankboost", "stumps[rounds=3]"),
]
FAST_LOSSES = ("lambdarank", "neural_sort", "xe_ndcg")
COMBINATIONS = [
    *(
        pytest.param(backend, loss, marks=[] if loss in FAST_LOSSES else pytest.mark.slow)
        for backend in BACKENDS
        for loss in sorted(LOSSES)
    ),
    *((backend, loss) for backend in FURTHER_BACKENDS for loss in ("lambdarank", "urank")),
]


@pytest.fixture(scope="module")
def few() -> rp.Lists:
    noise = np.random.default_rng(5)
    lengths = [1, 6, 4, 9, 2, 5, 7, 3]
    features = noise.normal(size=(sum(lengths), 3)).astype(np.float32)
    labels = noise.integers(0, 3, len(features)).astype(np.float32)
    labels[7:11] = 0
    return rp.Lists(features, labels, np.concatenate(([0], np.cumsum(lengths))))


def suited(lists: rp.Lists, loss: LossSpecification) -> rp.Lists:
    if "binary labels" not in loss.needs:
        return lists
    return rp.Lists(lists.features, (lists.labels > 0).astype(np.float32), lists.starts)


@pytest.mark.parametrize(("combination", "loss"), COMBINATIONS)
def test_it_trains_and_scores_are_finite_and_differ(combination, loss, few):
    backend, scorer = combination
    lists = suited(few, LOSSES[loss])
    model = rp.fit(backend, scorer=scorer, loss=loss, train=lists, train_curve=False)
    scores = model.predict(lists)
    assert np.isfinite(scores).all()
    # L-BFGS may find no step along a gradient that is that of no function, and stay where it began.
    assert np.ptp(scores) > 0 or (backend.startswith("lbfgs") and LOSSES[loss].gradient == "lambda")
