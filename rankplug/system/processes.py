"""Child processes: how one starts, so that it imports nothing from the working folder.

Python puts the working folder first on a child's path, so that a ``queue.py`` or ``pickle.py`` that happens to lie in
it would stand in for Python's own module.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

SAFE_PATH = "PYTHONSAFEPATH"


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
    sys.path.sort(key=_is_working_folder)
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
