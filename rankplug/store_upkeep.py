"""Merging stores of several machines, clearing leftovers away, and exporting results with what a rerun takes."""

from __future__ import annotations

import json
import shutil
import time
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import filelock
import yaml

from rankplug.combinations import read_combination
from rankplug.errors import UnknownPluginError
from rankplug.result_files import StoreError, read_about
from rankplug.store import LOCKS, NOTEBOOKS, UNFINISHED, Store

LEFT_BEHIND_AFTER = 3600.0
HOW_TO_RERUN = """These results were exported by rankplug.

results/          one Parquet file a finished trial, for rankplug results --store results or any Parquet reader
notebooks/        the executed notebooks
sweep.yaml        what was run: rankplug sweep sweep.yaml runs it again
records.json      for each trial its combination, seed, plugins with all parameters, versions, digests of data, timings
"""


@dataclass(frozen=True)
class Merged:
    """What a merge did: files that came new, and files that were there."""

    new: int
    there: int


def merge(store: Store, others: Iterable[Path]) -> Merged:
    """Copies results, failures and notebooks of other stores that this one lacks; every result is checked first."""
    new = there = 0
    for other in others:
        source = Store(other)
        if not source.folder.is_dir():
            raise StoreError(f"there is no store at {other}")
        for path in source.files():
            read_about(path)
            added = _copy(store, path, store.folder / path.relative_to(source.folder))
            new, there = new + added, there + (not added)
        for path in sorted(source.folder.glob("*/*.failed.json")):
            target = store.folder / path.relative_to(source.folder)
            if not Path(str(target).replace(".failed.json", ".parquet")).exists():
                _copy(store, path, target)
        for path in sorted((source.folder / NOTEBOOKS).glob("*.ipynb")):
            _copy(store, path, store.folder / NOTEBOOKS / path.name)
    return Merged(new, there)


def _copy(store: Store, path: Path, target: Path) -> bool:
    if target.exists() or path.is_symlink():
        return False
    store.write_file(target, path.read_bytes())
    return True


def leftovers(store: Store) -> list[Path]:
    """Files no one needs: unfinished writes and locks of processes that are gone, failures of trials since finished."""
    found = [
        path for path in store.folder.rglob(f"*{UNFINISHED}") if time.time() - path.stat().st_mtime > LEFT_BEHIND_AFTER
    ]
    found += [path for path in (store.folder / LOCKS).glob("*.lock") if _is_free(path)]
    found += [
        path
        for path in store.folder.glob("*/*.failed.json")
        if Path(str(path).replace(".failed.json", ".parquet")).exists()
    ]
    return sorted(found)


def outdated(store: Store) -> list[Path]:
    """Folders of combinations that the installed plugins or data would name differently: no sweep reads them."""
    found = []
    for folder in sorted({path.parent for path in store.files()}):
        about = read_about(next(iter(sorted(folder.glob("*.parquet")))))
        try:
            current = read_combination(about["combination"]).identity
        except UnknownPluginError:
            continue
        if current != folder.name:
            found.append(folder)
    return found


def remove(paths: Iterable[Path]) -> None:
    """Deletes files and folders of a store."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _is_free(path: Path) -> bool:
    lock = filelock.FileLock(path)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        return False
    lock.release()
    return True


def export(store: Store, target: Path) -> Path:
    """Writes a zip archive of all results with everything needed to run them again."""
    paths = store.paths()
    if not paths:
        raise StoreError(f"there is nothing to export in {store.folder}")
    records = [read_about(path) for path in paths]
    try:
        _write_archive(store, paths, records, target)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}; name a file in a folder that exists") from error
    return target


def _write_archive(store: Store, paths: Iterable[Path], records: list[dict[str, Any]], target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", HOW_TO_RERUN)
        archive.writestr("sweep.yaml", yaml.safe_dump(_sweep_file(records), sort_keys=False))
        archive.writestr("records.json", json.dumps(records, indent=1))
        for path in paths:
            archive.write(path, Path("results") / path.relative_to(store.folder))
        for path in sorted((store.folder / NOTEBOOKS).glob("*.ipynb")):
            archive.write(path, Path("notebooks") / path.name)


def _sweep_file(records: list[dict[str, Any]]) -> dict[str, Any]:
    grids = {record["identity"]: record["combination"] for record in records}
    # A list of names is one chain of transforms or metrics; a list of lists would be a grid of them.
    return {
        "folds": sorted({record["fold"] for record in records}),
        "trials": 1 + max(record["trial"] for record in records),
        "grids": list(grids.values()),
    }
