"""Folders for sockets: short enough for a socket's path, and gone when their owner is, however it ended."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from filelock import FileLock, Timeout

LONGEST_PATH = 103
"""Bytes that a socket's path may have, the fewest among Linux (107) and macOS."""
LONGEST_NAME = 48
"""Bytes left for what is made in a temporary folder: a folder with a random name, and a socket in it."""
ELSEWHERE = ("/tmp", "/var/tmp", "/dev/shm")
PREFIX = "rankplug-sockets-"
LOCK = "owner.lock"


def has_room(folder: str) -> bool:
    """Tell whether sockets can be made in a folder of a folder, whose paths must be short."""
    return len(os.fsencode(folder)) + LONGEST_NAME <= LONGEST_PATH


class SocketFolder:
    """A folder of one owner, which removes those whose owners were killed.

    It lies among the temporary files if their folder has a short name, else in the next best place.
    """

    def __init__(self) -> None:
        usual = tempfile.gettempdir()
        parents = [usual, os.environ.get("XDG_RUNTIME_DIR", ""), *ELSEWHERE]
        short = [parent for parent in parents if parent and has_room(parent) and os.access(parent, os.W_OK | os.X_OK)]
        parent = short[0] if short else usual
        _remove_abandoned(Path(parent))
        self.path = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        self._lock = FileLock(Path(self.path) / LOCK, thread_local=False)
        self._lock.acquire()

    def remove(self) -> None:
        """Remove the folder with its content."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        lock = FileLock(folder / LOCK, thread_local=False)
        try:
            # Without the file its owner is just making it, or another process is just removing the folder.
            if (folder / LOCK).exists():
                lock.acquire(blocking=False)
                shutil.rmtree(folder, ignore_errors=True)
                lock.release()
        except (Timeout, OSError):
            continue
