"""A loss of ours for LightGBM's own users.

With ``f = lightgbm_objective("xe_ndcg")``, ``lgb.LGBMRanker(objective=f)`` and ``lgb.train({"objective": f}, data)``
both work; the data need their group sizes. Sample weights are honoured. Positions (``lgb.Dataset(position=...)``), from
which LightGBM's own lambdarank learns how much a place attracts clicks, are not, and a warning says so.
"""

from __future__ import annotations

import warnings
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
            if self.iteration == 0 and second.get_position() is not None:
                warnings.warn(
                    f"the objective {self.loss} takes no account of the data's positions and trains as if there were"
                    " none; only LightGBM's own lambdarank corrects for them",
                    stacklevel=2,
                )
            facts: tuple[Any, Any, Any] = (second.get_label(), second.get_group(), second.get_weight())
            return self.derivatives(first, *facts)
        return self.derivatives(second, first, group, weight)


lightgbm_objective = LightGBMObjective
