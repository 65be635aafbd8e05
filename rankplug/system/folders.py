"""Folders of caches, data and results, and working folders that are removed with their owner."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

from rankplug.errors import RankplugError

RESULTS = "results"
MARKS = (".git", "pyproject.toml")
"""Entries of a project's root; a folder with the first is preferred to one with the second."""
OURS = re.compile(r"[0-9a-f]{16}|\.locks")
"""Names of folders that only a folder of results has."""
LONGEST_SOCKET = 103 - 48
"""Bytes of the path of a folder for sockets: the shortest limit, that of macOS, less the names inside of the folder."""
PREFIX = ".rankplug-working-"
LOCK = ".lock"
"""Ending of the file beside a working folder that its owner has locked since before there is a folder."""


def cache_folder(*, create: bool = True) -> Path:
    """Return the folder of prepared data and compiled code: ``RANKPLUG_CACHE`` or the user's cache.

    It is created for its owner alone, as it holds code that is run.

    Args:
        create: whether to create a missing folder.

    Raises:
        RankplugError: other users may write to it.
    """
    folder = _cache_path()
    try:
        if create:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        state = folder.stat()
    except OSError:
        # Whoever writes to it gets the error.
        return folder
    # A group of the same number has no other member, as most Linux distributions number them.
    others = stat.S_IWOTH if state.st_gid == state.st_uid else stat.S_IWOTH | stat.S_IWGRP
    if hasattr(os, "geteuid") and (state.st_uid not in (os.geteuid(), 0) or state.st_mode & others):
        raise RankplugError(
            f"other users may write to the cache folder {folder}, from which compiled code is run; make it yours"
            " alone (chown, chmod go-w), or set RANKPLUG_CACHE to another folder"
        )
    return folder


def is_in_cache(path: Path) -> bool:
    """Return whether a path is the cache folder or lies in it."""
    return path.absolute().is_relative_to(_cache_path().absolute())


def _cache_path() -> Path:
    return Path(os.environ.get("RANKPLUG_CACHE") or platformdirs.user_cache_dir("rankplug", appauthor=False))


def data_folders() -> list[Path]:
    """Return the folders that may hold archives or data sets: those in ``RANKPLUG_DATA``, separated as in ``PATH``."""
    return [Path(folder).expanduser() for folder in os.environ.get("RANKPLUG_DATA", "").split(os.pathsep) if folder]


def results_folder() -> Path:
    """Return the folder of results where no store is named, see :func:`results_place`."""
    return results_place()[0]


def results_place() -> tuple[Path, str]:
    """Find the folder of results, and why it is used: ``RANKPLUG_RESULTS``, or the nearest ``results`` upwards.

    The search ends at the project's root, in no project at the home folder, and outside of that at the first folder of
    another user. Where there are no results yet, they go into ``results`` in the project's root, or in no project in
    the working folder.
    """
    if named := os.environ.get("RANKPLUG_RESULTS"):
        return Path(named).expanduser(), "named by RANKPLUG_RESULTS"
    here = Path.cwd()
    root = project_root(here)
    for folder in _upwards(here, root):
        if holds_results(folder / RESULTS):
            where = "the project's root" if folder == root else "the working folder" if folder == here else folder
            return folder / RESULTS, f"found in {where}"
    if root is not None:
        return root / RESULTS, "in the project's root"
    return here / RESULTS, "in the working folder, as this is no project"


def report_folder() -> Path:
    """Return the default folder of the report: ``report`` in the project's root, or else in the working folder."""
    return (project_root(Path.cwd()) or Path.cwd()) / "report"


def other_results() -> list[Path]:
    """Return folders of results in the project that are not the one in use."""
    used, here = results_folder().absolute(), Path.cwd()
    root = project_root(here)
    folders = [folder / RESULTS for folder in _upwards(here, root)]
    if root is not None:
        folders += [path for depth in ("*", "*/*") for path in sorted(root.glob(f"{depth}/{RESULTS}"))]
    return [path for path in dict.fromkeys(folders) if path != used and holds_results(path)]


def holds_results(folder: Path) -> bool:
    """Return whether sweeps have written into a folder."""
    try:
        return any(OURS.fullmatch(entry.name) and entry.is_dir() for entry in os.scandir(folder))
    except OSError:
        return False


def project_root(here: Path) -> Path | None:
    """Return the nearest folder from here upwards that marks a project; none in the home folder and above it."""
    home = Path.home()
    above = [folder for folder in (here, *here.parents) if not home.is_relative_to(folder)]
    return next((folder for mark in MARKS for folder in above if (folder / mark).exists()), None)


def _upwards(here: Path, root: Path | None) -> Iterator[Path]:
    last = root or (Path.home() if here.is_relative_to(Path.home()) else None)
    for folder in (here, *here.parents):
        if last is None and _owner(folder) != _owner(here):
            return  # What others put into folders above is not ours, such as /tmp/results.
        yield folder
        if folder == last:
            return


def _owner(folder: Path) -> tuple[int, int]:
    """Return the user that a folder belongs to, and whether others may write into it."""
    state = folder.stat()
    return state.st_uid, state.st_mode & stat.S_IWOTH


class OwnedFolder:
    """A temporary folder, which removes those whose owners were killed; may be used in a ``with`` block.

    Args:
        parent: folder in which it lies; that of temporary files by default.
    """

    def __init__(self, parent: Path | str | None = None) -> None:
        where = Path(parent or tempfile.gettempdir())
        for path in where.glob(f"{PREFIX}*{LOCK}"):
            lock = FileLock(path, thread_local=False)
            with contextlib.suppress(Timeout, OSError):
                lock.acquire(blocking=False)
                _remove(lock)
        while True:
            self._lock = FileLock(where / f"{PREFIX}{secrets.token_hex(4)}{LOCK}", thread_local=False)
            with contextlib.suppress(Timeout):
                self._lock.acquire(blocking=False)
                break
        self.path = _folder_of(self._lock)
        self.path.mkdir(mode=0o700)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *ended: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder with its content."""
        _remove(self._lock)


class SocketFolder(OwnedFolder):
    """A folder for sockets, among the temporary files if their folder has a short name, else in the next best place."""

    def __init__(self) -> None:
        usual = tempfile.gettempdir()
        parents = (usual, os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", "/var/tmp", "/dev/shm")
        short = [parent for parent in parents if parent and has_room(parent) and os.access(parent, os.W_OK | os.X_OK)]
        super().__init__((*short, usual)[0])


def has_room(folder: str) -> bool:
    """Return whether the path of a folder is short enough for folders of sockets in it."""
    return len(os.fsencode(folder)) <= LONGEST_SOCKET


def _folder_of(lock: FileLock) -> Path:
    return Path(lock.lock_file).with_suffix("")


def _remove(lock: FileLock) -> None:
    """Remove a folder whose lock is held, and then the lock's file, by which others find what a kill leaves."""
    shutil.rmtree(_folder_of(lock), ignore_errors=True)
    with contextlib.suppress(OSError):
        os.unlink(lock.lock_file)
    lock.release()
