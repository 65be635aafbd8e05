"""A loss of ours for ``xgb.train(params, dtrain, obj=xgboost_objective("umart", dtrain))``.

XGBRanker refuses objectives that are functions, so this is for ``xgb.train`` and ``xgb.cv``. The data need their groups
(``qid`` or ``group``); weights, one a group as XGBoost has them in ranking, are honoured. Set ``base_score=0`` and
``disable_default_eval_metric=True``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from rankplug.errors import DataError
from rankplug.losses import Loss
from rankplug.registry import Named
from rankplug.samplers import Sampler
from rankplug.training import EngineObjective


class XGBoostObjective(EngineObjective):
    """Called by XGBoost with ``(scores, dtrain)``."""

    def __call__(self, scores: NDArray[Any], data: xgb.DMatrix) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        groups = data.get_uint_info("group_ptr")
        lengths = np.diff(groups.astype(np.int64)) if groups.size > 1 else None
        return self.derivatives(scores, data.get_label(), lengths, data.get_weight())


def xgboost_objective(
    loss: Named | Loss,
    dtrain: xgb.DMatrix | None = None,
    *,
    sampler: Named | Sampler | None = None,
    seed: int = 0,
) -> XGBoostObjective:
    """Make the objective of a loss; with ``dtrain``, its labels and groups are checked now rather than in training."""
    objective = XGBoostObjective(loss, sampler=sampler, seed=seed)
    if dtrain is not None:
        if not isinstance(dtrain, xgb.DMatrix):
            raise DataError(f"dtrain must be an xgboost.DMatrix, got {type(dtrain).__name__}")
        objective(np.zeros(dtrain.num_row(), np.float32), dtrain)
    return objective
