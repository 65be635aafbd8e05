"""Folders of this machine: of caches, data and results, and working folders, which go with their owner."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

from rankplug.errors import RankplugError

RESULTS = "results"
MARKS = (".git", "pyproject.toml")
"""Entries of a project's root; a folder with the first is preferred to one with the second."""
OURS = re.compile(r"[0-9a-f]{16}|\.locks")
"""Names of folders by which a folder of results differs from others of its name."""
LONGEST_PATH = 103
"""Bytes that a socket's path may have, the fewest among Linux (107) and macOS."""
LONGEST_NAME = 48
"""Bytes left for what is made in a temporary folder: a folder with a random name, and a socket in it."""
ELSEWHERE = ("/tmp", "/var/tmp", "/dev/shm")
PREFIX = ".rankplug-working-"
LOCK = ".lock"
"""Ending of the file beside the folder that its owner has locked, since before there is a folder."""


def cache_folder(*, create: bool = True) -> Path:
    """Return the folder of prepared data and compiled code: ``RANKPLUG_CACHE`` or the user's cache.

    All of it can be made again. It is created for its owner alone, as it holds code that is run.

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
    """Tell whether a path is the cache folder or lies in it."""
    return path.absolute().is_relative_to(_cache_path().absolute())


def _cache_path() -> Path:
    return Path(os.environ.get("RANKPLUG_CACHE") or platformdirs.user_cache_dir("rankplug", appauthor=False))


def data_folders() -> list[Path]:
    """Return the folders that may hold archives or data sets: those in ``RANKPLUG_DATA``, separated as in ``PATH``."""
    return [Path(folder).expanduser() for folder in os.environ.get("RANKPLUG_DATA", "").split(os.pathsep) if folder]


@dataclass(frozen=True)
class ResultsPlace:
    """A folder of results, and why it is the one that is used."""

    path: Path
    why: str


def results_folder() -> Path:
    """Return the folder of results where no store is named, see :func:`results_place`."""
    return results_place().path


def results_place() -> ResultsPlace:
    """Find the folder of results: ``RANKPLUG_RESULTS``, or the nearest ``results`` upwards that holds some.

    The search ends at the project's root, in no project at the home folder, and outside of that at the first folder of
    another user. Where there are no results yet, they go into ``results`` in the project's root, or in no project in
    the working folder.
    """
    if named := os.environ.get("RANKPLUG_RESULTS"):
        return ResultsPlace(Path(named).expanduser(), "named by RANKPLUG_RESULTS")
    here = _working_folder()
    root = project_root(here)
    for folder in _upwards(here, root):
        if holds_results(folder / RESULTS):
            where = (
                "in the project's root"
                if folder == root
                else f"in {'the working folder' if folder == here else folder}"
            )
            return ResultsPlace(folder / RESULTS, f"found {where}")
    if root is not None:
        return ResultsPlace(root / RESULTS, "in the project's root")
    return ResultsPlace(here / RESULTS, "in the working folder, as this is no project")


def report_folder() -> Path:
    """Return the default folder of the report: ``report`` in the project's root, or outside a project in the working
    folder.
    """
    here = _working_folder()
    return (project_root(here) or here) / "report"


def other_results() -> list[Path]:
    """Return folders of results in the project that are not the one in use."""
    used, here = results_folder(), _working_folder()
    root = project_root(here)
    folders = [folder / RESULTS for folder in _upwards(here, root)]
    for pattern in (f"[!.]*/{RESULTS}", f"[!.]*/[!.]*/{RESULTS}") if root is not None else ():
        folders += sorted((root or here).glob(pattern))
    return [path for path in dict.fromkeys(folders) if path != used.absolute() and holds_results(path)]


def holds_results(folder: Path) -> bool:
    """Tell whether sweeps have written into a folder."""
    try:
        return any(OURS.fullmatch(entry.name) and entry.is_dir() for entry in os.scandir(folder))
    except OSError:
        return False


def project_root(here: Path) -> Path | None:
    """Return the nearest folder from here upwards that marks a project; none in the home folder and above it."""
    home = _home()
    above = [folder for folder in (here, *here.parents) if folder != home and folder not in home.parents]
    return next((folder for mark in MARKS for folder in above if (folder / mark).exists()), None)


def _upwards(here: Path, root: Path | None) -> Iterator[Path]:
    last = root or (_home() if here.is_relative_to(_home()) else None)
    for folder in (here, *here.parents):
        if last is None and folder != here and _owner(folder) != _owner(here):
            return  # What others put into folders above is not ours, such as /tmp/results.
        yield folder
        if folder == last:
            return


def _owner(folder: Path) -> tuple[int, int]:
    """Return the user that a folder belongs to, and whether others may write into it."""
    try:
        status = folder.stat()
    except OSError:
        return -1, 0
    return status.st_uid, status.st_mode & 0o002


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:
        raise RankplugError("the working folder is gone; change into another, or set RANKPLUG_RESULTS") from None


def has_room(folder: str) -> bool:
    """Tell whether sockets can be made in a folder of a folder, whose paths must be short."""
    return len(os.fsencode(folder)) + LONGEST_NAME <= LONGEST_PATH


class OwnedFolder:
    """A folder of one owner, which removes those whose owners were killed; may be used in a ``with`` block.

    Args:
        parent: where it lies; among the temporary files when absent.
    """

    def __init__(self, parent: Path | str | None = None) -> None:
        where = str(parent or tempfile.gettempdir())
        _remove_abandoned(Path(where))
        self.path, self._lock = _make(where)

    def __enter__(self) -> Path:
        return Path(self.path)

    def __exit__(self, *ended: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder with its content."""
        _remove(Path(self.path), self._lock)


class SocketFolder(OwnedFolder):
    """A folder for sockets, among the temporary files if their folder has a short name, else in the next best place."""

    def __init__(self) -> None:
        usual = tempfile.gettempdir()
        parents = [usual, os.environ.get("XDG_RUNTIME_DIR", ""), *ELSEWHERE]
        short = [parent for parent in parents if parent and has_room(parent) and os.access(parent, os.W_OK | os.X_OK)]
        super().__init__(short[0] if short else usual)


def _make(parent: str) -> tuple[str, FileLock]:
    """Lock a name, and make a folder of that name; where another was faster, with another name."""
    while True:
        handle, name = tempfile.mkstemp(prefix=PREFIX, suffix=LOCK, dir=parent)
        os.close(handle)
        lock = FileLock(name, thread_local=False)
        with contextlib.suppress(Timeout, FileExistsError):
            lock.acquire(blocking=False)
            path = name.removesuffix(LOCK)
            os.mkdir(path, 0o700)
            return path, lock


def _remove(folder: Path, lock: FileLock) -> None:
    """Remove a folder whose lock is held, and then the lock's file, by which others find what a kill leaves."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.unlink(lock.lock_file)
    lock.release()


def _remove_abandoned(parent: Path) -> None:
    for path in parent.glob(f"{PREFIX}*{LOCK}"):
        lock = FileLock(path, thread_local=False)
        with contextlib.suppress(Timeout, OSError):
            lock.acquire(blocking=False)
            _remove(path.with_suffix(""), lock)
