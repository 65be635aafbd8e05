"""A sweep's schedule on many workers, simulated from how long its trials take.

As in :mod:`rankplug.sweeps.schedule`, trials are given out in the order of the plan to whichever worker is free, and
one client gives them out and writes what comes back, one after another.

>>> makespan([3.0, 1.0, 1.0, 1.0], 2)
3.0
>>> makespan([1.0, 1.0, 1.0, 3.0], 2)
4.0
>>> makespan([1.0, 1.0], 2, client=0.5)
2.0
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence


def makespan(durations: Sequence[float], workers: int, *, client: float = 0.0) -> float:
    """Return the seconds from the first trial's start to the last one's end.

    Args:
        durations: of the trials, in the order of the plan.
        workers: that run one trial at a time each.
        client: seconds for which a trial keeps the client busy, when it is given out and written.
    """
    free = [0.0] * min(workers, max(len(durations), 1))
    client_free = end = 0.0
    for duration in durations:
        client_free = max(client_free, heapq.heappop(free)) + client
        heapq.heappush(free, client_free + duration)
        end = max(end, client_free + duration)
    return end


def limit(durations: Sequence[float], workers: int, *, client: float = 0.0) -> str:
    """Name the nearest of three lower bounds on the time of a sweep with more workers."""
    bounds = {
        "the work": sum(durations) / workers,
        "the longest trial": max(durations),
        "the client": client * len(durations),
    }
    reached, found = makespan(durations, workers, client=client), max(bounds, key=lambda name: bounds[name])
    return found if bounds[found] > 0.8 * reached else "trials of unequal length, in the order of the plan"
