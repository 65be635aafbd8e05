"""A loss of ours for LightGBM's own users.

With ``f = lightgbm_objective("xe_ndcg")``, ``lgb.LGBMRanker(objective=f)`` and ``lgb.train({"objective": f}, data)``
both work; the data need their group sizes. Sample weights are honoured.
"""

from __future__ import annotations

from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from rankplug.training import EngineObjective


class LightGBMObjective(EngineObjective):
    """Called by LightGBM with ``(labels, scores, weight, group)``, or with ``(scores, dataset)``."""

    def __call__(
        self, first: Any, second: Any, weight: Any = None, group: Any = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        if isinstance(second, lgb.Dataset):
            facts: tuple[Any, Any, Any] = (second.get_label(), second.get_group(), second.get_weight())
            return self.derivatives(first, *facts)
        return self.derivatives(second, first, group, weight)


lightgbm_objective = LightGBMObjective
