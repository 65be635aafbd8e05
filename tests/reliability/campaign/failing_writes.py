"""Disks that fail: at one call of Python's, at any byte beyond a size, or because they are full.

Calls by which a file comes about or takes its name are intercepted in Python. What C code writes (NumPy's arrays,
Arrow's tables, LightGBM's models) passes no such call: a limit of the size of files (``RLIMIT_FSIZE``) and a small file
system in memory fail the very write, whoever makes it, also in processes that the command starts.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class FailingCall:
    """A disk that fails at one call within a folder, and from then on if it stays so."""

    def __init__(self, at: int, stays: bool, mark: Path) -> None:
        self.at, self.stays, self.mark, self.calls = at, stays, mark, 0

    def install(self, folder: Path) -> None:
        """Put a layer over every call by which a file or folder comes about, is written out or takes its name."""
        for owner, name in (
            (os, "open"),
            (os, "replace"),
            (os, "rename"),
            (os, "mkdir"),
            (os, "fsync"),
            (builtins, "open"),
            (io, "open"),
        ):
            setattr(owner, name, self._failing(name, getattr(owner, name), str(folder)))

    def _failing(self, name: str, before: Any, folder: str) -> Any:
        def call(target: Any, *words: Any, **options: Any) -> Any:
            if self._is_write(name, target, words, options, folder):
                self.calls += 1
                if self.calls == self.at or (self.stays and self.calls > self.at):
                    self.mark.touch()
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target if isinstance(target, str) else None)
            return before(target, *words, **options)

        return call

    @staticmethod
    def _is_write(name: str, target: Any, words: Any, options: Any, folder: str) -> bool:
        if name == "fsync":
            return True
        if not isinstance(target, (str, os.PathLike)):
            return False
        inside = os.path.abspath(os.fspath(target)).startswith(folder)
        if name == "open":
            mode = words[0] if words else options.get("mode", "r")
            writes = bool(mode & (os.O_WRONLY | os.O_RDWR)) if isinstance(mode, int) else any(c in mode for c in "wax+")
            return inside and writes
        return inside


class LimitedFiles:
    """No file may have more bytes than a limit."""

    def __init__(self, most: int) -> None:
        self.most = most

    def install(self, folder: Path) -> None:
        # What the command says goes through a process without the limit, so that it is said.
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=1) as reader:
            assert reader.stdin is not None
            os.dup2(reader.stdin.fileno(), 1)
            os.dup2(reader.stdin.fileno(), 2)
            reader.stdin.close()
            reader.returncode = 0
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.most, self.most))


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Any]:
    """Mount a file system in memory at a folder, and yield a function that sets its size in bytes."""

    def resize(size: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", folder], check=True, capture_output=True)

    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1g", "tmpfs", folder], check=True, capture_output=True)
    try:
        yield resize
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)


def can_mount() -> bool:
    """Tell whether this user may mount a file system."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    probe = Path(os.environ.get("TMPDIR", "/tmp")) / f"rankplug-mount-{os.getpid()}"
    probe.mkdir()
    try:
        with small_disk(probe):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False
    finally:
        probe.rmdir()
