"""Faults of the machine, such as a full disk, told from faults of what runs on it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from rankplug.system.folders import is_in_cache

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


def is_of_the_machine(error: BaseException) -> bool:
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
