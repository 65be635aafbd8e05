"""Memory of a process that no file backs, so that memory-mapped data do not count."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

STATUS = Path("/proc/self/status")
LOOK_EVERY = 0.002


def held() -> int:
    """Return how many bytes are held now."""
    return next(int(line.split()[1]) for line in STATUS.read_text().splitlines() if line.startswith("RssAnon")) * 1024


@dataclass
class Growth:
    """The most that was held during a block beyond what was held before it, in bytes."""

    bytes: int = 0


@contextlib.contextmanager
def growth() -> Iterator[Growth]:
    """Watch the memory of this process from a thread while a block runs."""
    memory, before, done = Growth(), held(), threading.Event()

    def look() -> None:
        while not done.wait(LOOK_EVERY):
            memory.bytes = max(memory.bytes, held() - before)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield memory
    finally:
        done.set()
        watcher.join()
        memory.bytes = max(memory.bytes, held() - before)
