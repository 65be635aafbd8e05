"""Merging stores of several machines, and exporting results with what a rerun takes."""

from __future__ import annotations

import errno
import json
import os
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from rankplug.store.result_files import StoreError, read_about, read_failure, read_rows
from rankplug.store.result_store import NOTEBOOKS, Store
from rankplug.system import whole_file

HOW_TO_RERUN = """These results were exported by rankplug.

results/          one Parquet file a finished trial, for rankplug results --store results or any Parquet reader
notebooks/        the executed notebooks
sweep.yaml        what was run: rankplug sweep sweep.yaml runs it again
records.json      for each trial its combination, seed, plugins with all parameters, versions, digests of data, timings
"""


@dataclass(frozen=True)
class Merged:
    """Counts of a merge: files that were new, and files that were already there."""

    new: int
    there: int


def merge(store: Store, others: Iterable[Path]) -> Merged:
    """Copy results, failures and notebooks that this store lacks from others, after checking every result."""
    new = there = 0
    for other in others:
        source = Store(other)
        if not source.folder.is_dir():
            raise StoreError(f"there is no store at {other}")
        for path in source.files():
            about = read_about(path)
            read_rows(path)
            name = f"{about['identity']}/{about['identity']}-f{about['fold']}-t{about['trial']}.parquet"
            if str(path.relative_to(source.folder)) != name:
                raise StoreError(f"{path} is the result {name} by its description; move it out of the folder")
            added = _copy(store, path, store.folder / path.relative_to(source.folder))
            new, there = new + added, there + (not added)
        for path in sorted(source.folder.glob("*/*.failed.json")):
            read_failure(path)
            target = store.folder / path.relative_to(source.folder)
            if not Path(str(target).replace(".failed.json", ".parquet")).exists():
                _copy(store, path, target)
        for path in sorted((source.folder / NOTEBOOKS).glob("*.ipynb")):
            if path.is_file():
                _copy(store, path, store.folder / NOTEBOOKS / path.name)
    return Merged(new, there)


def _copy(store: Store, path: Path, target: Path) -> bool:
    if target.exists() or path.is_symlink():
        return False
    store.write_file(target, path.read_bytes())
    return True


def export(store: Store, target: Path) -> Path:
    """Write a zip archive of all results with everything needed to run them again."""
    paths = store.paths()
    if not paths:
        raise StoreError(f"there is nothing to export in {store.folder}")
    if target.exists() and not target.is_file():
        reason = "Is a directory" if target.is_dir() else "Is no regular file"
        raise StoreError(f"cannot write {target}: {reason}; name a file in a folder that exists")
    records = [read_about(path) for path in paths]
    try:
        with whole_file(Path(os.path.realpath(target))) as file:
            _write_archive(store, paths, records, file)
    except OSError as error:
        kept = " (the file of that name is as it was)" if target.exists() else ""
        reason = f"cannot write {target}: {error.strerror or error}{kept}"
        raise StoreError(f"{reason}; {_way_out(error)}") from error
    return target


def _way_out(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "free space, or name a file on another disk"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "allow writing there, or name a file in another folder"
    return "name a file in a folder that exists"


def _write_archive(store: Store, paths: Iterable[Path], records: list[dict[str, Any]], file: BinaryIO) -> None:
    notebooks = [path for path in sorted((store.folder / NOTEBOOKS).glob("*.ipynb")) if path.is_file()]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        archive.writestr("README.txt", HOW_TO_RERUN)
        archive.writestr("sweep.yaml", yaml.safe_dump(_sweep_file(records), sort_keys=False))
        archive.writestr("records.json", json.dumps(records, indent=1))
        for path in paths:
            archive.write(path, Path("results") / path.relative_to(store.folder))
        for path in notebooks:
            archive.write(path, Path("notebooks") / path.name)


def _sweep_file(records: list[dict[str, Any]]) -> dict[str, Any]:
    grids = {record["identity"]: record["combination"] for record in records}
    # A list of names is one chain of transforms or metrics; a list of lists would be a grid of them.
    return {
        "folds": sorted({record["fold"] for record in records}),
        "trials": 1 + max(record["trial"] for record in records),
        "grids": list(grids.values()),
    }
