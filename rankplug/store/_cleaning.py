"""Leftovers and outdated results of a store, which may be deleted.

Only files with names that rankplug gives are found; all others in the folder are the user's.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import filelock

from rankplug.store._combination import Combination, read_combination
from rankplug.store._files import IDENTITY, SCORES, StoreError, read_about, read_scores
from rankplug.store._index import INDEX
from rankplug.store._store import LOCKS, NOTEBOOKS, Store
from rankplug.system import LEFT_BEHIND_AFTER, UNFINISHED, UNFINISHED_NAME

TRIAL_FILE = re.compile(r"[0-9a-f]{16}-f[0-9]+-t[0-9]+\.(parquet|failed\.json|lock)")


@dataclass(frozen=True)
class Finding:
    """Some files of a store.

    Args:
        path: the file, or the folder of several.
        why: they may go, or must stay.
        files: what would be deleted; nothing of what must stay.
    """

    path: Path
    why: str
    files: tuple[Path, ...] = ()


def leftovers(store: Store) -> list[Finding]:
    """Find unfinished writes and locks of processes that are gone, and failures of trials since finished."""
    return sorted(_leftovers(store), key=lambda finding: finding.path)


def _leftovers(store: Store) -> Iterator[Finding]:
    results = [*_folders(store.folder), *_folders(store.folder / SCORES)]
    for folder in [*results, store.folder / NOTEBOOKS, store.folder / LOCKS, store.folder / INDEX]:
        for path in folder.glob(f".*{UNFINISHED}"):
            if UNFINISHED_NAME.fullmatch(path.name) and _is_old(path):
                yield Finding(path, "a write that was never finished", (path,))
    for path in (store.folder / LOCKS).glob("*.lock"):
        if TRIAL_FILE.fullmatch(path.name) and _is_free(path):
            yield Finding(path, "a claim of a process that is gone", (path,))
    for folder in _folders(store.folder):
        for path in folder.glob("*.failed.json"):
            if TRIAL_FILE.fullmatch(path.name) and Path(str(path).replace(".failed.json", ".parquet")).exists():
                yield Finding(path, "a failure of a trial that is finished since", (path,))


def _folders(root: Path) -> list[Path]:
    """Return the folders named by the digest of a combination, with its metrics or without."""
    return sorted(path for path in root.glob("*/") if IDENTITY.fullmatch(path.name))


def outdated(store: Store) -> tuple[list[Finding], list[Finding]]:
    """Find combinations whose plugins, versions or data have changed, and those for which that is unknown.

    A combination is outdated only where its data and plugins could be read and differ. It is unknown where data are not
    here, plugins or engines are not installed, or files are damaged. Stored scores do not depend on metrics.
    """
    stale, unknown = [], []
    for folder in [*_folders(store.folder), *_folders(store.folder / SCORES)]:
        files = tuple(sorted(path for path in folder.glob("*") if TRIAL_FILE.fullmatch(path.name)))
        results = [path for path in files if path.suffix == ".parquet"]
        if not results:
            continue
        try:
            changes, unreadable = _changes(_about(store, results[0]))
        except StoreError as error:
            changes, unreadable = [], [str(error)]
        if changes:
            stale.append(Finding(folder, "; ".join(changes), files))
        elif unreadable:
            unknown.append(Finding(folder, "; ".join(unreadable)))
    return stale, unknown


def _about(store: Store, path: Path) -> dict[str, Any]:
    """Return the description of a result, or of stored scores as that of a combination without metrics."""
    if path.parent.parent == store.folder:
        return read_about(path)
    about, _ = read_scores(path)
    plugins = {part: used for part, used in about.get("plugins", {}).items() if part != "metrics"}
    return {
        **about,
        "identity": path.parent.name,
        "combination": {**about["combination"], "metrics": []},
        "plugins": plugins,
    }


def _changes(about: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return what changed since a result was written, and what cannot be read here; nothing if its name is valid."""
    try:
        now = read_combination(about["combination"])
        if now.identity == about["identity"]:
            return [], []
        return _differences(about, now)
    except Exception as error:
        # Functions of plugins may raise anything.
        return [], [str(error) or type(error).__name__]


def _differences(about: dict[str, Any], now: Combination) -> tuple[list[str], list[str]]:
    changes, unreadable = [], []
    if about["data_fingerprint"] != now.data_fingerprint:
        if now.data_fingerprint:
            changes.append(f"the data of {now.dataset} are others")
        else:
            unreadable.append(f"the data of {now.dataset} are not here")
    for name, version in about["versions"].items():
        if name not in now.versions:
            unreadable.append(f"{name} is not installed here")
        elif now.versions[name] != version:
            changes.append(f"{name} {version} then, {now.versions[name]} now")
    plugins = json.loads(json.dumps(now.plugins, default=str))
    for part, recorded in about["plugins"].items():
        for then, current in zip(recorded, plugins.get(part, []), strict=False):
            changed = [key for key in ("parameters", "version", "distribution", "code", "source")
                       if then.get(key) != current.get(key)]  # fmt: skip
            if changed:
                changes.append(f"{part} {current['name']} has other {', '.join(changed)}")
    return changes, unreadable if changes or unreadable else ["its name is not the digest of its description"]


def remove(findings: Iterable[Finding]) -> None:
    """Delete the files of findings, and folders that are empty afterwards."""
    for finding in findings:
        for path in finding.files:
            if path.suffix == ".lock":
                _remove_lock(path)
            else:
                path.unlink(missing_ok=True)
        folder = finding.path if finding.path.is_dir() else finding.path.parent
        if IDENTITY.fullmatch(folder.name):
            with contextlib.suppress(OSError):
                folder.rmdir()


def _is_old(path: Path) -> bool:
    try:
        state = path.lstat()
    except FileNotFoundError:
        return False
    return path.is_file() and time.time() - state.st_mtime > LEFT_BEHIND_AFTER


def _is_free(path: Path) -> bool:
    lock = filelock.FileLock(path)
    try:
        lock.acquire(blocking=False)
    except (filelock.Timeout, OSError):
        return False
    lock.release()
    return True


def _remove_lock(path: Path) -> None:
    """Remove a lock while holding it, so that no other process has it at that moment."""
    lock = filelock.FileLock(path)
    try:
        lock.acquire(blocking=False)
    except (filelock.Timeout, OSError):
        return
    path.unlink(missing_ok=True)
    lock.release()
