"""One number of threads for all engines: ours, OpenMP, torch, LightGBM and XGBoost.

``RANKPLUG_THREADS`` sets it for a process; the default is every core this process may use.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from rankplug.errors import RankplugError
from rankplug.system.plain_numbers import whole_number

BRING_POOLS = ("numpy", "scipy", "sklearn", "torch", "lightgbm", "xgboost")
"""Packages that bring thread pools when they are imported."""

_threads: int | None = None
_in_force: tuple[int, frozenset[str]] | None = None


def available_cores() -> int:
    """Count the cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """Return the number of threads each engine may use."""
    if _threads is not None:
        return _threads
    given = os.environ.get("RANKPLUG_THREADS", "")
    if not given:
        return available_cores()
    if not given.isdigit() or int(given) < 1:
        raise RankplugError(f"RANKPLUG_THREADS must be a whole number of at least 1, got {given!r}")
    return int(given)


@contextlib.contextmanager
def use_threads(number: int | None = None) -> Iterator[int]:
    """Run a block with a number of threads in every engine that is loaded, and restore the number afterwards.

    Engines that take the number as an argument (LightGBM, XGBoost, our own loops) read :func:`threads`. BLAS gets one:
    it splits its products between threads, which changes their last bits, and its pools, NumPy's and SciPy's, wait for
    one another and for ours. What is large enough for several threads goes through our loops or an engine's.
    """
    global _threads, _in_force
    wanted = threads() if number is None else whole_number(number, "the number of threads", least=1)
    setting = wanted, frozenset(package for package in BRING_POOLS if package in sys.modules)
    if _in_force == setting and _threads == wanted:
        # Finding the pools reads this process's memory map, which costs more than many a prediction.
        yield wanted
        return
    before = _threads, _in_force
    with contextlib.ExitStack() as stack:
        stack.callback(_restore, *before)
        _threads, _in_force = wanted, setting
        if "torch" in sys.modules:
            torch = sys.modules["torch"]
            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(wanted)
        if "threadpoolctl" in sys.modules or "numpy" in sys.modules:
            from threadpoolctl import threadpool_limits

            stack.enter_context(threadpool_limits(limits={"blas": 1, "openmp": wanted}))
        yield wanted


def thread_environment(number: int) -> dict[str, str]:
    """Return the environment variables by which a new process and its engines start with a number of threads."""
    names = ("RANKPLUG_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    return {**dict.fromkeys(names, str(number)), "OPENBLAS_NUM_THREADS": "1"}


def _restore(number: int | None, in_force: tuple[int, frozenset[str]] | None) -> None:
    global _threads, _in_force
    _threads, _in_force = number, in_force
