"""XGBoost on a Dask cluster: the workers build one histogram from the gradients of their own lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import xgboost as xgb
import xgboost.dask
from numpy.typing import NDArray
from rankplug_dask import FittedEngine, SpreadLists, tree_settings

from rankplug.system import stream
from rankplug.training import Problem, Record
from rankplug_xgboost.backend import XGBoostModel
from rankplug_xgboost.objective import XGBoostObjective


def fit(problem: Problem, client: Any) -> FittedEngine:
    """Train trees on the lists of all workers."""
    settings, train = tree_settings(problem), cast(SpreadLists, problem.train)
    data = xgboost.dask.DaskQuantileDMatrix(
        client,
        train.features,
        train.labels,
        qid=train.query_numbers,
        max_bin=settings["max_bin"],
    )
    parameters = {
        "objective": "reg:squarederror",
        "base_score": 0.0,
        "disable_default_eval_metric": True,
        "seed": stream(problem.seed, "trees") % 2**31,
        **settings,
    }
    rounds: int = problem.scorer_parameters.rounds  # type: ignore[attr-defined]
    objective = XGBoostObjective(problem.loss, sampler=problem.sampler, seed=stream(problem.seed, "noise"))
    booster: xgb.Booster = xgboost.dask.train(client, parameters, data, rounds, obj=objective)["booster"]

    def staged(features: NDArray[Any]) -> Iterator[NDArray[Any]]:
        scores = np.zeros(len(features))
        matrix = xgb.DMatrix(features)
        for tree in range(booster.num_boosted_rounds()):
            scores = scores + booster.predict(matrix, output_margin=True, iteration_range=(tree, tree + 1))
            yield scores

    def cut(iterations: int, record: Record) -> XGBoostModel:
        return XGBoostModel(bytes(booster[:iterations].save_raw()), record)

    return FittedEngine(staged, cut)
