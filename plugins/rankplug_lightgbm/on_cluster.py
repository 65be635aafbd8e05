"""LightGBM on a Dask cluster: the workers build one histogram from the gradients of their own lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray
from rankplug_dask import FittedEngine, SpreadLists, tree_settings

from rankplug.system import stream
from rankplug.training import Problem, Record
from rankplug_lightgbm.backend import LightGBMModel
from rankplug_lightgbm.objective import LightGBMObjective


def fit(problem: Problem, client: Any) -> FittedEngine:
    """Train trees on the lists of all workers."""
    settings, train = tree_settings(problem), cast(SpreadLists, problem.train)
    objective = LightGBMObjective(problem.loss, sampler=problem.sampler, seed=stream(problem.seed, "noise"))
    rounds: int = problem.scorer_parameters.rounds  # type: ignore[attr-defined]
    ranker = lgb.DaskLGBMRanker(
        client=client,
        n_estimators=rounds,
        objective=objective,
        # Its own default is NDCG of the training data, which takes no fractions as labels.
        metric="None",
        tree_learner="data",
        verbosity=-1,
        random_state=stream(problem.seed, "trees") % 2**31,
        deterministic=True,
        force_row_wise=True,
        **settings,
    )
    ranker.fit(train.features, train.labels, group=train.lengths)
    booster = ranker.booster_

    def staged(features: NDArray[Any]) -> Iterator[NDArray[Any]]:
        scores = np.zeros(len(features))
        for tree in range(booster.current_iteration()):
            scores = scores + booster.predict(features, raw_score=True, start_iteration=tree, num_iteration=1)
            yield scores

    def cut(iterations: int, record: Record) -> LightGBMModel:
        return LightGBMModel(booster.model_to_string(num_iteration=iterations), record)

    return FittedEngine(staged, cut)
