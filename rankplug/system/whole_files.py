"""Files that are written whole or not at all: a crash or a full disk leaves what was there before."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

UNFINISHED_PREFIX, UNFINISHED = ".rankplug-", ".tmp"
"""How the name of a file begins and ends until it is whole."""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write in place of another; it takes its name at the end of the block, and is gone if that raises."""
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
    """Writes a file, and the folders above it that are not there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(content)
