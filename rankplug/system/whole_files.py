"""Files that are written whole or not at all: a crash or a full disk leaves what was there before."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

UNFINISHED_PREFIX, UNFINISHED = ".rankplug-", ".tmp"
"""Prefix and suffix of a file's name until it is complete."""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file in place of another; it is renamed at the end of the block, and removed if that raises."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=UNFINISHED_PREFIX, suffix=UNFINISHED)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically, and make missing folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(content)
