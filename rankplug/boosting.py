"""What boosting engines need of a loss: a gradient and a positive curvature of every document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import FitError
from rankplug.losses import Evaluation, Objective
from rankplug.training import checked

CURVATURE_FLOOR = 1e-16


def boosting_step(objective: Objective, scores: NDArray[np.floating], iteration: int) -> Evaluation:
    """Value, gradient and curvature in float32; no curvature is 0, which would divide 0 by 0 in a leaf.

    Only a curvature that is 0 beside a gradient of 0 is raised; a negative one is an error, not something to repair.
    """
    step = checked(objective(scores, iteration=iteration, dtype=np.float32), iteration)
    lowest = step.curvature.min(initial=0)
    if lowest < 0:
        raise FitError(
            f"{objective.loss} has the negative curvature {lowest:.3g} at iteration {iteration}; boosting needs a"
            " positive one, so choose another curvature of the loss or another backend"
        )
    np.maximum(step.curvature, CURVATURE_FLOOR, out=step.curvature, where=step.gradient == 0)
    return step
