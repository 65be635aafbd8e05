"""Files that are written whole or not at all: a crash or a full disk leaves what was there before."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rankplug.system.folders import OwnedFolder

UNFINISHED = ".tmp"
"""Ending of a file's name until it is complete."""
UNFINISHED_NAME = re.compile(r"\.rankplug-[a-z0-9_]{8}\.tmp")
LEFT_BEHIND_AFTER = 3600.0
"""Seconds after which an unfinished file belongs to a process that was killed."""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file in place of another; it is renamed at the end of the block, and removed if that raises.

    A link stays, and what it points to is replaced; what is no file, such as a device, is never replaced.
    """
    path = _target(path)
    _remove_abandoned_once(path.parent.absolute())
    name = _new_name(path.parent)
    try:
        # The file has the rights that the umask gives, as others may share it; tempfile's are the owner's alone.
        with open(name, "x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically, and make missing folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(content)


def check_can_write(path: Path) -> None:
    """Raise the error now that writing a file whole would raise later; no folder is created."""
    folder = _target(path).parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    name = _new_name(folder)
    try:
        name.write_bytes(bytes(4096))
    finally:
        name.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Make a folder under another name; it is renamed at the end of the block, and removed if that raises.

    Args:
        path: its name in the end.
        replace: whether it takes the place of an existing folder.
    """
    with OwnedFolder(path.parent) as working:
        new = working / f"new{UNFINISHED}"
        new.mkdir()
        yield new
        if replace and path.exists():
            path.rename(working / f"replaced{UNFINISHED}")
        new.rename(path)


@functools.lru_cache(maxsize=1024)
def _remove_abandoned_once(folder: Path) -> None:
    """Remove what processes that were killed have left unfinished in a folder."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if is_abandoned(path):
                path.unlink()


def is_abandoned(path: Path) -> bool:
    """Return whether a file has the name of an unfinished one, and was last written to long ago."""
    return bool(UNFINISHED_NAME.fullmatch(path.name)) and time.time() - path.lstat().st_mtime > LEFT_BEHIND_AFTER


def _target(path: Path) -> Path:
    """Return the file that is written under a name, which may be a link to it."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        number = errno.EISDIR if target.is_dir() else errno.EINVAL
        raise OSError(number, "Is a directory" if target.is_dir() else "Is no regular file", str(target))
    return target


def _new_name(folder: Path) -> Path:
    return folder / f".rankplug-{secrets.token_hex(4)}{UNFINISHED}"
