"""Weights of lists, for engines that weigh lists only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankplug.training import Problem


def weights_of_lists(problem: Problem) -> NDArray[np.float64]:
    """Return the weight of each training list: as given, the mean of its documents', or 1."""
    lists, given = problem.train, problem.weights
    if given is None:
        return np.ones(len(lists))
    if given.size == len(lists):
        return given
    return np.add.reduceat(given, lists.starts[:-1]) / lists.lengths
