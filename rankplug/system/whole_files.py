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

UNFINISHED_PREFIX, UNFINISHED = ".rankplug-", ".tmp"
"""Prefix and suffix of a file's name until it is complete."""
UNFINISHED_NAME = re.compile(re.escape(UNFINISHED_PREFIX) + r"[a-z0-9_]{8}" + re.escape(UNFINISHED))
LEFT_BEHIND_AFTER = 3600.0
"""Seconds after which an unfinished file belongs to a process that was killed."""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Write a file in place of another; it is renamed at the end of the block, and removed if that raises.

    A link stays, and what it points to is replaced; what is no file, such as a device, is never replaced.
    """
    path = _target(path)
    _remove_abandoned_once(path.parent.absolute())
    handle, name = _new_file(path.parent)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
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


def check_can_write(path: Path) -> None:
    """Raise the error now that writing a file whole would raise later; no folder is created."""
    folder = _target(path).parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    handle, name = _new_file(folder)
    try:
        os.write(handle, bytes(4096))
    finally:
        os.close(handle)
        os.unlink(name)


@contextlib.contextmanager
def whole_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """Make a folder under another name; it is renamed at the end of the block, and removed if that raises.

    Args:
        path: its name in the end.
        replace: whether it takes the place of a folder that is there.
    """
    with OwnedFolder(path.parent) as working:
        made = working / f"made{UNFINISHED}"
        made.mkdir()
        yield made
        if replace and path.exists():
            path.rename(working / f"replaced{UNFINISHED}")
        made.rename(path)


def is_abandoned(path: Path) -> bool:
    """Tell whether a file has the name of an unfinished one, and was last written to long ago."""
    try:
        age = time.time() - path.lstat().st_mtime
    except OSError:
        return False
    return UNFINISHED_NAME.fullmatch(path.name) is not None and age > LEFT_BEHIND_AFTER


def remove_abandoned(folder: Path) -> None:
    """Remove what processes that were killed have left unfinished in a folder."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            if entry.name.startswith(UNFINISHED_PREFIX) and is_abandoned(Path(entry.path)):
                os.unlink(entry.path)


def _target(path: Path) -> Path:
    """Return the file that is written under a name, which may be a link to it."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        number = errno.EISDIR if target.is_dir() else errno.EINVAL
        raise OSError(number, "Is a directory" if target.is_dir() else "Is no regular file", str(target))
    return target


_remove_abandoned_once = functools.lru_cache(maxsize=1024)(remove_abandoned)


def _new_file(folder: Path) -> tuple[int, str]:
    """Make a file with the rights that the umask gives, as others may share it; tempfile's are the owner's alone."""
    while True:
        name = str(folder / f"{UNFINISHED_PREFIX}{secrets.token_hex(4)}{UNFINISHED}")
        with contextlib.suppress(FileExistsError):
            return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666), name
