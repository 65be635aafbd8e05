"""Compiled loops over lists, kept between processes until one of the files they are written in changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ListFunction, make
from rankplug.system import threads, workers


def over_lists(lengths: NDArray[np.int64], cost: int, work: Callable[[int, int], object]) -> None:
    """Calls ``work(begin, end)`` for ranges of lists on several threads; ``cost`` is a document's, in steps."""
    workers.run(work, workers.chunks_of(lengths.astype(np.float64) * cost, threads()))


class Kernel(ListFunction):
    """A compiled function of arrays and numbers, in strict arithmetic; it releases the interpreter's lock."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, fastmath=False)

    @cached_property
    def kept(self) -> Any:
        """The compiled function, from an earlier process where there was one."""
        arguments = ", ".join(self.arguments)
        return make(f"def lifted({arguments}):\n    return kernel({arguments})\n", {"kernel": self})

    def __call__(self, *arguments: Any) -> Any:
        return self.kept(*arguments)
