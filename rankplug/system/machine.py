"""This machine: its free memory, its faults, and child processes on it.

Python puts the working folder first on a child's path, so that a ``queue.py`` or ``pickle.py`` that happens to lie in
it would stand in for Python's own module. Children start with a safe path instead.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from rankplug.errors import FitError, RankplugError
from rankplug.system.folders import is_in_cache

MEMORY_OF_MACHINE = Path("/proc/meminfo")
LIMIT_OF_GROUP = Path("/sys/fs/cgroup/memory.max")
USE_OF_GROUP = Path("/sys/fs/cgroup/memory.current")
STATES = tuple(
    os.strerror(number)
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ESTALE)
)
"""The system's words for a full or read-only disk, too many open files, and a failing disk.

Libraries pass such an error on in an exception of their own, but with these words.
"""
NO_MEMORY = "failed to map segment from shared object"
"""Words of the system for a library that finds no room in memory."""
SAYINGS = (*STATES, NO_MEMORY, "No usable temporary directory", "can't start new thread")
SAFE_PATH = "PYTHONSAFEPATH"


def available_memory() -> int | None:
    """Return how many bytes this process may still take; None where the system does not tell."""
    known = []
    try:
        line = next(line for line in MEMORY_OF_MACHINE.read_text().splitlines() if line.startswith("MemAvailable:"))
        known.append(int(line.split()[1]) * 1024)
        limit = LIMIT_OF_GROUP.read_text().strip()
        if limit.isdigit():
            known.append(int(limit) - int(USE_OF_GROUP.read_text()))
    except (OSError, StopIteration, ValueError):
        pass
    return max(0, min(known)) if known else None


def check_memory(needed: int, owner: str, advice: str, error: type[RankplugError] = FitError) -> None:
    """Raise an error if an array cannot fit into memory.

    Args:
        needed: bytes, a cautious estimate from below.
        owner: who needs them.
        advice: what would need less.
        error: that is raised.
    """
    available = available_memory()
    if available is not None and needed > available:
        raise error(
            f"{owner} needs at least {needed / 2**30:.1f} GiB of memory and {available / 2**30:.1f} GiB are left;"
            f" {advice}"
        )


def is_environment_error(error: BaseException) -> bool:
    """Tell whether an error, or one that caused it, comes from the machine and not from the combination."""
    return any(_tells_of_the_machine(link) for link in _chain(error))


def _tells_of_the_machine(error: BaseException) -> bool:
    if any(words in str(error) for words in SAYINGS):
        return True
    # Everything in the cache is ours and can be made again, so that no combination is to blame for what fails there.
    return isinstance(error, OSError) and isinstance(error.filename, str) and is_in_cache(Path(error.filename))


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    here: BaseException | None = error
    while here is not None and id(here) not in seen:
        seen.add(id(here))
        yield here
        here = here.__cause__ or (None if here.__suppress_context__ else here.__context__)


def child_command(*arguments: str) -> list[str]:
    """Return the command that runs this Python with some arguments, such as ``-m jupyterlab``, on a safe path."""
    return [sys.executable, "-P", *arguments]


def child_environment(**variables: str) -> dict[str, str]:
    """Return the environment of a child process, in which its own children have a safe path too.

    Args:
        variables: to set beside those of this process.
    """
    return {**os.environ, SAFE_PATH: "1", **variables}


@contextlib.contextmanager
def safe_children() -> Iterator[None]:
    """Give children that start in the block a safe path where another library builds their command.

    multiprocessing and Dask pass this process's ``sys.path`` on; folders of it that are the working folder come last
    meanwhile, so that a module beside a notebook is still found, and hides none of Python's.
    """
    variable, path = os.environ.get(SAFE_PATH), sys.path[:]
    os.environ[SAFE_PATH] = "1"
    # A list that sorts itself is empty meanwhile, and other threads may import.
    sys.path[:] = sorted(path, key=_is_working_folder)
    try:
        yield
    finally:
        sys.path[:] = path
        if variable is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = variable


def _is_working_folder(entry: str) -> bool:
    with contextlib.suppress(OSError):
        return not entry or Path(entry).samefile(".")
    return False
