"""Disks that fail: at one call, at any byte beyond a size, or because they are full.

The failing disk is a library in C that comes before all others, so that it meets the calls of Python, NumPy, Arrow,
DuckDB and LightGBM alike, also in processes that a command starts. A limit of the size of files (``RLIMIT_FSIZE``) and
a small file system in memory fail in the middle of a write.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("failing_disk.c")
COUNTS = struct.Struct("2l")


def can_preload() -> bool:
    """Tell whether the failing disk can be compiled, and loaded before all other libraries."""
    return sys.platform == "linux" and shutil.which("cc") is not None


def preload(folder: Path) -> None:
    """Begin this program again with the failing disk, unless it has it."""
    library = folder / "failing_disk.so"
    if os.environ.get("LD_PRELOAD") == str(library):
        return
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    os.execve(sys.executable, sys.orig_argv, {**os.environ, "LD_PRELOAD": str(library)})


class FailingDisk:
    """A disk that fails at one call within a folder, and from then on if it stays so."""

    def __init__(self, at: int, stays: bool, counts: Path) -> None:
        self.at, self.stays, self.counts = at, stays, counts
        counts.write_bytes(bytes(COUNTS.size))

    def install(self, folder: Path) -> None:
        """Let calls of this process fail, and those of programs that it starts."""
        os.environ |= {
            "FAILING_DISK": str(folder),
            "FAILING_DISK_AT": str(self.at),
            "FAILING_DISK_STAYS": str(int(self.stays)),
            "FAILING_DISK_COUNTS": str(self.counts),
        }
        fail_at = ctypes.CDLL(None).fail_at
        assert fail_at(os.fsencode(folder), ctypes.c_long(self.at), self.stays, os.fsencode(self.counts)) == 0

    def has_failed(self) -> bool:
        _, failed = COUNTS.unpack(self.counts.read_bytes())
        return bool(failed)


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
