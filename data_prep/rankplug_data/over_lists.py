"""Compiled loops over lists on several threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rankplug.system import threads, workers


def over_lists(lengths: NDArray[np.int64], cost: int, work: Callable[[int, int], object]) -> None:
    """Call ``work(begin, end)`` for ranges of lists on several threads; ``cost`` is a document's, in steps."""
    workers.run(work, workers.chunks_of(lengths.astype(np.float64) * cost, threads()))
