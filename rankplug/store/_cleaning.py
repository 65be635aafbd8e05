"""Leftovers and outdated results of a store, which may be deleted.

Only files with names that rankplug gives are found; all others in the folder are the user's.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import filelock

from rankplug.store._combination import Combination
from rankplug.store._files import IDENTITY, SCORES, read_about, read_scores
from rankplug.store._index import INDEX
from rankplug.store._store import LOCKS, NOTEBOOKS, Store
from rankplug.system import UNFINISHED, is_abandoned

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
    results = [*_folders(store.folder), *_folders(store.folder / SCORES)]
    found = [
        (path, "a write that was never finished")
        for folder in [*results, store.folder / NOTEBOOKS, store.folder / LOCKS, store.folder / INDEX]
        for path in folder.glob(f".*{UNFINISHED}")
        if path.is_file() and is_abandoned(path)
    ]
    found += [
        (path, "a claim of a process that is gone")
        for path in (store.folder / LOCKS).glob("*.lock")
        if TRIAL_FILE.fullmatch(path.name) and _free(path)
    ]
    found += [
        (path, "a failure of a trial that is finished since")
        for path in store.folder.glob("*/*.failed.json")
        if TRIAL_FILE.fullmatch(path.name) and Path(str(path).replace(".failed.json", ".parquet")).exists()
    ]
    return [Finding(path, why, (path,)) for path, why in sorted(found)]


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
            changes, unreadable = _differences(_about(store, results[0]))
        except Exception as error:
            # Functions of plugins may raise anything.
            changes, unreadable = [], [str(error) or type(error).__name__]
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
    plugins = {part: used for part, used in about["plugins"].items() if part != "metrics"}
    combination = {**about["combination"], "metrics": []}
    return {**about, "identity": path.parent.name, "combination": combination, "plugins": plugins}


def _differences(about: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return what changed since a result was written, and what cannot be read here; nothing if its name is valid."""
    now = Combination(**about["combination"])
    if now.identity == about["identity"]:
        return [], []
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
            if changed := [key for key in {**then, **current} if then.get(key) != current.get(key)]:
                changes.append(f"{part} {current['name']} has other {', '.join(changed)}")
    return changes, unreadable if changes or unreadable else ["its name is not the digest of its description"]


def remove(findings: Iterable[Finding]) -> None:
    """Delete the files of findings, and folders that are empty afterwards."""
    for finding in findings:
        for path in finding.files:
            if path.suffix == ".lock":
                _free(path, remove=True)
            else:
                path.unlink(missing_ok=True)
        folder = finding.path if finding.path.is_dir() else finding.path.parent
        if IDENTITY.fullmatch(folder.name):
            with contextlib.suppress(OSError):
                folder.rmdir()


def _free(path: Path, *, remove: bool = False) -> bool:
    """Return whether no process has a lock, and remove it if requested, while no other process can take it."""
    lock = filelock.FileLock(path)
    try:
        lock.acquire(blocking=False)
    except (filelock.Timeout, OSError):
        return False
    if remove:
        path.unlink(missing_ok=True)
    lock.release()
    return True
