"""This machine: its free memory, its faults, child processes and the kernels of notebooks.

Python puts the working folder first on a child's path, so that a ``queue.py`` or ``pickle.py`` that happens to lie in
it would stand in for Python's own module. Children start with a safe path instead.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rankplug.errors import FitError, RankplugError
from rankplug.system.folders import SocketFolder, is_in_cache

MEMORY_OF_MACHINE = Path("/proc/meminfo")
LIMIT_OF_GROUP = Path("/sys/fs/cgroup/memory.max")
USE_OF_GROUP = Path("/sys/fs/cgroup/memory.current")
STATES = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ESTALE)
"""A full or read-only disk, too many open files, and a failing disk."""
MESSAGES = (
    *map(os.strerror, STATES),
    "failed to map segment from shared object",
    "No usable temporary directory",
    "can't start new thread",
)
"""Words of the system for faults of the machine, with which libraries pass them on in exceptions of their own."""
SAFE_PATH = "PYTHONSAFEPATH"

_kernels: list[Any] = []
"""Processes of the kernels that were started here."""


def available_memory() -> int | None:
    """Return how many bytes this process may still take; None where the system does not tell."""
    amounts = []
    try:
        line = next(line for line in MEMORY_OF_MACHINE.read_text().splitlines() if line.startswith("MemAvailable:"))
        amounts.append(int(line.split()[1]) * 1024)
        limit = LIMIT_OF_GROUP.read_text().strip()
        if limit.isdigit():
            amounts.append(int(limit) - int(USE_OF_GROUP.read_text()))
    except (OSError, StopIteration, ValueError):
        pass
    return max(0, min(amounts)) if amounts else None


def check_memory(needed: int, owner: str, advice: str, error: type[RankplugError] = FitError) -> None:
    """Raise an error if an array cannot fit into memory.

    Args:
        needed: bytes, a cautious estimate from below.
        owner: who needs them.
        advice: what would need less.
        error: class of the error.
    """
    available = available_memory()
    if available is not None and needed > available:
        raise error(
            f"{owner} needs at least {needed / 2**30:.1f} GiB of memory and {available / 2**30:.1f} GiB are left;"
            f" {advice}"
        )


def is_environment_error(error: BaseException | None) -> bool:
    """Return whether an error, or one that caused it, comes from the machine and not from the combination."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if any(words in str(error) for words in MESSAGES):
            return True
        # Everything in the cache can be made again, so that no combination is to blame for what fails there.
        if isinstance(error, OSError) and isinstance(error.filename, str) and is_in_cache(Path(error.filename)):
            return True
        seen.add(id(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False


def child_command(*arguments: str) -> list[str]:
    """Return the command that runs this Python with some arguments, such as ``-m jupyterlab``, on a safe path."""
    return [sys.executable, "-P", *arguments]


def child_environment() -> dict[str, str]:
    """Return the environment of a child process, in which its own children have a safe path too."""
    return {**os.environ, SAFE_PATH: "1"}


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


def execute_notebook(source: Path, target: Path, parameters: Mapping[str, Any], folder: Path | None = None) -> None:
    """Execute a notebook with papermill, in a kernel that only this user can reach.

    Args:
        source: the notebook.
        target: file for the executed notebook.
        parameters: parameters of the notebook.
        folder: working folder of its kernel; that of this process by default.
    """
    import papermill
    from traitlets.config import Config

    options: dict[str, Any] = {"kernel_manager_class": _recorded_kernels()}
    if folder is not None:  # papermill's own argument for it changes the folder of all threads of this process.
        options["resources"] = {"metadata": {"path": str(folder)}}
    with SocketFolder() as sockets:
        if os.name == "posix":  # Any user of the machine could listen at a port.
            connection = str(sockets / "kernel.json")
            options["config"] = Config(KernelManager=Config(transport="ipc", connection_file=connection))
        papermill.execute_notebook(str(source), str(target), parameters=dict(parameters), progress_bar=False, **options)


def end_kernels() -> None:
    """End the kernels that still run, and with them their notebooks."""
    for process in _kernels:
        if process.poll() is None:
            process.kill()


@functools.cache
def _recorded_kernels() -> type:
    """Return the class of managers that record the processes of their kernels."""
    from jupyter_client.manager import AsyncKernelManager

    class RecordedKernel(AsyncKernelManager):
        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
            await super().start_kernel(**{"env": child_environment(), **options})
            _kernels.append(getattr(self.provisioner, "process", None))

    return RecordedKernel
