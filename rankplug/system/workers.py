"""Threads that run compiled functions over lists; long lists beside short ones leave no thread idle.

Compiled functions release the interpreter's lock, so plain threads do. Each list is worked on by one thread and writes
only its own part of the output, so results do not depend on the number of threads.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from rankplug.system.thread_limits import threads

WORTH_A_THREAD = 3_000_000
"""About half a millisecond; for less, waking a thread costs more, as PyTorch's own spin on the cores meanwhile."""
WORTH_A_THREAD_BESIDE_AN_ENGINE = 40_000_000
"""About 12 ms. An engine's own threads spin for some milliseconds after their work, and threads of ours that take their
cores make the engine's next step start late, which costs more than they spare in less time than this."""
CHUNKS_A_THREAD = 8

Chunk = tuple[int, int]
_pool: ThreadPoolExecutor | None = None
_pool_size = 0


def chunks_of(cost: NDArray[np.float64], workers: int, worth_threads: float | None = None) -> list[Chunk]:
    """Divide lists into ranges of about equal cost, the dearest first; a list dearer than that has its own.

    >>> chunks_of(np.full(4, 1e6), workers=1)
    [(0, 4)]
    >>> chunks_of(np.full(4, 1e6), workers=2)
    [(0, 1), (1, 2), (2, 3), (3, 4)]
    """
    total = float(cost.sum())
    least = WORTH_A_THREAD if worth_threads is None else worth_threads
    if workers == 1 or total < least or cost.size < 2:
        return [(0, int(cost.size))]
    size = max(total / (workers * CHUNKS_A_THREAD), WORTH_A_THREAD / 4)
    done = np.cumsum(cost) - cost
    ends = np.flatnonzero(np.diff(np.floor(done / size))) + 1
    bounds = [0, *ends.tolist(), int(cost.size)]
    chunks = list(itertools.pairwise(bounds))
    return sorted(chunks, key=lambda chunk: -float(cost[chunk[0] : chunk[1]].sum()))


def run(function: Callable[[int, int], object], chunks: Sequence[Chunk]) -> None:
    """Call ``function(begin, end)`` for every chunk on at most :func:`rankplug.system.threads` threads."""
    helpers = min(threads(), len(chunks)) - 1
    left = iter(chunks)
    if helpers < 1:
        _work(function, left)
        return
    waiting = [_workers(helpers).submit(_work, function, left) for _ in range(helpers)]
    try:
        _work(function, left)
    finally:
        for future in waiting:
            if not future.cancel():
                future.result()


def _work(function: Callable[[int, int], object], left: Iterator[Chunk]) -> None:
    for begin, end in left:
        function(begin, end)


def _workers(number: int) -> ThreadPoolExecutor:
    global _pool, _pool_size
    if _pool is None or _pool_size < number:
        _pool, _pool_size = ThreadPoolExecutor(number, thread_name_prefix="rankplug"), number
    return _pool


def _forget_pool() -> None:
    global _pool, _pool_size
    _pool, _pool_size = None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
