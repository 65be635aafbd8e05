"""The random numbers that everything in a process shares, which a plugin leaves alone."""
# ruff: noqa: NPY002

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np


def global_random_state() -> tuple[Any, ...]:
    """Return the states of Python's, NumPy's and, if it is loaded, PyTorch's global generators."""
    torch = sys.modules.get("torch")
    drawn: Any = np.random.get_state()
    return (
        random.getstate(),
        drawn[1].tobytes(),
        drawn[2],
        b"" if torch is None else torch.random.get_rng_state().numpy().tobytes(),
    )


@contextlib.contextmanager
def other_global_random_numbers() -> Iterator[None]:
    """Seed the global generators otherwise in the block, and restore them."""
    states = random.getstate(), np.random.get_state()
    random.seed(1234)
    np.random.seed(1234)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
