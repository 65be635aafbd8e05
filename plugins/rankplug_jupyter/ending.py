"""The end of a forked kernel: all that a program may rely on at its end, and then no more.

Python ends by taking apart every module it has. The many that a fork shares with its siblings would be copied for that
page by page, which takes as long as a notebook of a few cells. So a kernel runs what is registered for its end, lets go
of the notebook's objects, writes out open files, and is gone, as :mod:`multiprocessing` ends the processes it forks.

This module is imported before all others: functions for the end run in reverse order, and ours is to be the last.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import io
import os
import sys
from typing import Any

_ended: list[Any] = []


def end_at_once(shell: Any) -> None:
    """Let this process, a kernel whose shell has stopped, end without taking its modules apart."""
    _ended.append(shell)


@atexit.register
def _end() -> None:
    if not _ended:
        return
    try:
        _ended.pop().reset(new_session=False)
        gc.collect()
        write_out_files()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        raise
    os._exit(0)


def write_out_files() -> None:
    """Flush open files of Python and of C libraries."""
    things = gc.get_objects()
    files = {kind for kind in set(map(type, things)) if issubclass(kind, io.IOBase)}
    for thing in things:
        if type(thing) in files:
            with contextlib.suppress(Exception):
                thing.flush()
    ctypes.CDLL(None).fflush(None)
