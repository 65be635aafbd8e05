"""Files that are read as they were when they were opened, or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from rankplug.errors import DataError


@contextlib.contextmanager
def open_regular(path: Path) -> Iterator[BufferedReader]:
    """Open a file to read; raise where reading might wait for ever, as from a pipe."""
    try:
        # Without waiting for someone who writes into a pipe.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise DataError(f"{path} cannot be read: it is no regular file; save what comes from it, and name that file")
    with os.fdopen(handle, "rb") as file:
        yield file


def is_there(path: Path) -> bool:
    """Tell whether there is a file or folder; raise where nobody can tell, as of a name that is too long."""
    try:
        return path.exists()
    except OSError as error:
        shown = str(path) if len(str(path)) < 200 else f"{str(path)[:200]}..."
        raise DataError(f"{shown} cannot be read: {error.strerror or error}") from error


@contextlib.contextmanager
def unchanged(path: Path, file: BufferedReader) -> Iterator[None]:
    """Raise at the end of the block where someone wrote to a file meanwhile."""
    before = _state(file)
    yield
    if _state(file) != before:
        raise changed(path)


def changed(path: Path | str) -> DataError:
    """Return the error for a source that is not what it was."""
    return DataError(f"{path} changed while it was read; load it again once nothing writes to it")


def edit_state(state: os.stat_result) -> tuple[int, int, int]:
    """Return what an edit changes: the size, the time of writing, and the time of any change, which nobody can set."""
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _state(file: BufferedReader) -> tuple[int, int]:
    state = os.fstat(file.fileno())
    return state.st_size, state.st_mtime_ns
