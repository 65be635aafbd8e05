"""The number of threads of all engines: ours, OpenMP's, torch, LightGBM and XGBoost. Everything about it is here.

- ``RANKPLUG_THREADS``, ``OMP_NUM_THREADS`` or :func:`use_threads` limit it; else the limit is every core this process
  may use, of a container only its quota.
- :func:`threads_for` chooses below the limit by the work there is, and, where no limit is set, by what else the
  machine does.
- :func:`let_pools_wait` makes threads that wait sleep instead of keeping a core busy.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from rankplug.errors import RankplugError

LIMITS = ("RANKPLUG_THREADS", "OMP_NUM_THREADS")
"""Environment variables that limit the number of threads, the first that is set."""
WAITING = {
    "GOMP_SPINCOUNT": "1000",
    "KMP_BLOCKTIME": "1",
    "OPENBLAS_THREAD_TIMEOUT": "10",
}
"""Time that a waiting thread may keep a core busy, for each kind of pool; none of its own choice for long.

The defaults are some milliseconds to a fifth of a second. On a busy machine the core is another program's meanwhile, or
the thread that the others wait for does not get it. GNU's OpenMP counts turns of a loop, of which 1,000 take some 50
microseconds: about as long as it takes to wake a thread, so that a short gap between two steps costs nothing.
"""
MILLISECONDS_A_THREAD = 1.5
"""Milliseconds of an iteration on one thread for each thread that shares it; with less, sharing saves nothing.

An iteration has some hundred steps that all threads wait for, each of which costs some microseconds.
"""
CANNOT_GIVE_WAY = 8.0
"""Times as much work for each thread, where the number changes last bits and so cannot follow what else computes."""
LOOKS = 5
BETWEEN_LOOKS = 0.001

MOST_THREADS = 1024
"""More than this and engines end the process, as no machine has so many."""
BRING_POOLS = ("numpy", "scipy", "sklearn", "torch", "lightgbm", "xgboost")
"""Packages that bring thread pools when they are imported."""

_limit: ContextVar[int | None] = ContextVar("_limit", default=None)
_in_force: ContextVar[tuple[int, int, frozenset[str]] | None] = ContextVar("_in_force", default=None)
"""Thread, number and packages for which the innermost block of this context has set the pools."""


def let_pools_wait() -> None:
    """Let pools of threads that are loaded from now on sleep while they wait; what the user set stays."""
    if "OMP_WAIT_POLICY" not in os.environ:
        for name, value in WAITING.items():
            os.environ.setdefault(name, value)


def waiting_pools() -> dict[str, str]:
    """Return the environment variables that say how long a thread that waits keeps its core busy."""
    return {name: os.environ[name] for name in ("OMP_WAIT_POLICY", *WAITING) if name in os.environ}


def available_cores() -> int:
    """Count the cores that this process may use; a container only has its quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, _quota()))


@functools.cache
def _quota() -> int:
    """Return the cores of a container's quota; the kernel halts threads beyond them in the middle of their work."""
    with contextlib.suppress(OSError, ValueError):
        time_given, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return -(-int(time_given) // int(period))
    return sys.maxsize


def threads() -> int:
    """Return the number of threads each engine may use."""
    return given_threads() or available_cores()


def given_threads() -> int | None:
    """Return the limit that the user or a sweep set, if any."""
    name = next((name for name in LIMITS if os.environ.get(name)), "")
    if (limit := _limit.get()) is not None or not name:
        return limit
    # OpenMP takes one number for each level of nesting, of which only the first is ours.
    text = os.environ[name].split(",")[0] if name.startswith("OMP") else os.environ[name]
    if not re.fullmatch("0*[1-9][0-9]{0,3}", text) or int(text) > MOST_THREADS:
        raise RankplugError(f"{name} must be a whole number from 1 to {MOST_THREADS}, got {text[:40]!r}")
    return int(text)


def threads_for(milliseconds: float, *, same_bits: bool = True) -> int:
    """Return the number of threads for an engine whose iteration would take so long on one thread.

    Args:
        milliseconds: of an iteration on one thread, roughly.
        same_bits: whether results are the same on any number; else it does not depend on how busy the machine is.
    """
    worth = max(1, int(milliseconds / MILLISECONDS_A_THREAD / (1.0 if same_bits else CANNOT_GIVE_WAY)))
    if worth == 1:
        return 1
    return min(worth, threads() if given_threads() is not None or not same_bits else free_cores())


def free_cores() -> int:
    """Return our share of the cores beside the other programs that compute now, at least half of them.

    Half, as what is busy now may be done in a moment, and what we begin may run for hours.
    """
    everywhere = os.cpu_count() or 1
    others = min(busy_threads(), everywhere)
    return max(1, min(available_cores(), everywhere * everywhere // (everywhere + others)))


def busy_threads() -> int:
    """Count the threads of other programs that compute now; 0 where the system does not tell."""
    counts = []
    for look in range(LOOKS):
        if look:
            time.sleep(BETWEEN_LOOKS)
        try:
            running = int(Path("/proc/loadavg").read_text().split()[3].split("/")[0])
            ours = sum(map(_is_running, Path("/proc/self/task").iterdir()))
        except (OSError, ValueError, IndexError):
            return 0
        counts.append(max(0, running - ours))
    return sorted(counts)[len(counts) // 2]


def _is_running(task: Path) -> bool:
    with contextlib.suppress(OSError):
        # The name of a thread stands in parentheses and may hold anything.
        return (task / "stat").read_text().rpartition(")")[2].split()[0] == "R"
    return False


@contextlib.contextmanager
def use_threads(number: int | None = None) -> Iterator[int]:
    """Run a block with a number of threads in every engine that is loaded, and restore the number afterwards.

    Engines that take the number as an argument (LightGBM, XGBoost, our own loops) read :func:`threads`. BLAS gets one:
    it splits its products between threads, which changes their last bits, and its pools, NumPy's and SciPy's, wait for
    one another and for ours. What is large enough for several threads goes through our loops or an engine's.

    The number belongs to the thread (and context) that enters the block, so that blocks of several threads overlap.
    """
    from rankplug.system.plain_numbers import whole_number

    requested = (
        threads() if number is None else whole_number(number, "the number of threads", least=1, most=MOST_THREADS)
    )
    before = _limit.get(), _in_force.get()
    setting = threading.get_ident(), requested, frozenset(package for package in BRING_POOLS if package in sys.modules)
    if number is not None:
        _limit.set(requested)
    try:
        if before[1] == setting:
            # Finding the pools reads this process's memory map, which costs more than many a prediction.
            yield requested
        else:
            _in_force.set(setting)
            with _pools.limited(requested):
                yield requested
    finally:
        _limit.set(before[0])
        _in_force.set(before[1])


class _Pools:
    """The pools of threads of all libraries in this process.

    Most numbers belong to the thread that sets them, torch's also to threads that start later. That of OpenBLAS and MKL
    is the process's, and one as long as any thread is in a block.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks = 0
        self._torch: int | None = None
        """Torch's number outside all blocks."""
        self._restore: list[Callable[[], None]] = []
        """Sets the pools of the process back to their numbers before, the latest first."""
        self._thread = threading.local()

    @contextlib.contextmanager
    def limited(self, requested: int) -> Iterator[None]:
        """Limit the pools in the block: OpenMP's and torch's of this thread, BLAS of all threads to one."""
        torch, outer = sys.modules.get("torch"), getattr(self._thread, "torch", None)
        with self._lock:
            self._blocks += 1
            if torch is not None:
                self._torch = self._torch or torch.get_num_threads()
                torch.set_num_threads(requested)
                self._thread.torch = requested
            pools = _loaded_pools()
            shared = [pool for pool in pools if pool.user_api == "blas" and not _is_of_thread(pool)]
            own = [(pool, pool.num_threads) for pool in pools if pool not in shared]
            for pool, _ in own:
                pool.set_num_threads(1 if pool.user_api == "blas" else requested)
            self._limit(shared)
        try:
            yield
        finally:
            with self._lock:
                self._blocks -= 1
                for pool, number in own:
                    pool.set_num_threads(number)
                if torch is not None:
                    torch.set_num_threads(outer or self._torch)
                    self._thread.torch = outer
                if self._blocks:
                    self._limit(shared)
                else:
                    while self._restore:
                        self._restore.pop()()
                    self._torch = None

    def _limit(self, pools: list[Any]) -> None:
        """Limit pools of the process to one thread, which torch may have raised since the last time."""
        for pool in pools:
            if (number := pool.num_threads) != 1:
                self._restore.append(functools.partial(_set_for_process, pool, number))
                _set_for_process(pool, 1)


_pools = _Pools()


def _loaded_pools() -> list[Any]:
    if "threadpoolctl" not in sys.modules and "numpy" not in sys.modules:
        return []
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().lib_controllers)


def _is_of_thread(pool: Any) -> bool:
    return getattr(pool, "threading_layer", "") == "openmp"


def _set_for_process(pool: Any, number: int) -> None:
    """Set the number of a pool, which threadpoolctl otherwise lets only the first thread do."""
    clear = getattr(pool, "clear_controlling_thread", lambda force: None)
    clear(force=True)
    pool.set_num_threads(number)
    clear(force=True)


def thread_environment(number: int) -> dict[str, str]:
    """Return the environment variables by which a new process and its engines start with a number of threads."""
    names = ("RANKPLUG_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    return {**dict.fromkeys(names, str(number)), "OPENBLAS_NUM_THREADS": "1"}
