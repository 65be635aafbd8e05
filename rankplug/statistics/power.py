"""Power of a design, and the repetitions that a question would take.

>>> from rankplug.statistics.designs import mean_of_trials
>>> found = mean_of_trials([0.1, 0.3, 0.2, 0.4])
>>> round(smallest_difference(found), 3), repetitions_needed(found, margin=0.1)
(0.269, 16)
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.statistics.decisions import LEVEL
from rankplug.statistics.designs import Estimate

POWER = 0.8
MOST = 100_000


def smallest_difference(estimate: Estimate, *, level: float = LEVEL / 2, power: float = POWER) -> float:
    """Return the true difference that this design finds with a given power: ``(t_level + t_power) * error``."""
    from scipy import stats

    if not (np.isfinite(estimate.error) and estimate.degrees > 0):
        return math.inf
    reach = stats.t.isf(level, estimate.degrees) + stats.t.ppf(power, estimate.degrees)
    return float(reach * estimate.error)


def repetitions_needed(
    estimate: Estimate, margin: float, *, level: float = LEVEL / 2, power: float = POWER
) -> int | None:
    """Return how many repetitions in all would find a true difference of the margin; None where no number would.

    The spread is taken to stay as it is, and degrees of freedom to be those of the repetitions.
    """
    from scipy import stats

    if not np.isfinite(estimate.error):
        return None
    floor, rest = float(estimate.floor), (float(estimate.error) ** 2 - float(estimate.floor)) * estimate.count

    def finds(count: int) -> bool:
        degrees = max(count - 1.0, float(estimate.degrees) * (count - 1) / max(estimate.count - 1, 1))
        reach = stats.t.isf(level, degrees) + stats.t.ppf(power, degrees)
        return bool(reach * math.sqrt(floor + max(rest, 0.0) / count) <= margin)

    if not finds(MOST):
        return None
    low, high = 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle > 1 and finds(middle) else (middle, high)
    return high
