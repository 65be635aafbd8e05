"""Merging stores of several machines, and exporting results with what a rerun takes."""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from rankplug.store.description import identity_of
from rankplug.store.origins import (
    ORIGINS,
    SUMS,
    changed_files,
    origins_of,
    read_sums,
    sha256_of,
    write_origin,
    write_sums,
)
from rankplug.store.result_files import StoreError, read_about, read_failure, read_rows
from rankplug.store.result_store import NOTEBOOK, NOTEBOOKS, Store
from rankplug.store.score_files import SCORES, read_scored
from rankplug.system import OwnedFolder, whole_file

HOW_TO_RERUN = """These results were exported by rankplug.

results/          one Parquet file a finished trial, for rankplug results --store results or any Parquet reader
results/scores/   scores of test documents, where they were kept: from them other metrics are measured without training
notebooks/        the executed notebooks
sweep.yaml        what was run: rankplug sweep sweep.yaml runs it again
SHA256SUMS        digests of the files: sha256sum --check SHA256SUMS, which rankplug results merge does by itself
records.json      for each trial its combination, seed, plugins with all parameters, versions, digests of data, timings
"""


@dataclass(frozen=True)
class MergeCounts:
    """Counts of a merge.

    Args:
        new: results that came new.
        there: results that were there; they are left alone.
        unlike: those of them whose numbers are others here than there.
    """

    new: int
    there: int
    unlike: tuple[str, ...] = ()


def merge(store: Store, others: Iterable[Path], origin: str = "", dry_run: bool = False) -> MergeCounts:
    """Copy results, failures and notebooks of other stores that this one lacks; every result is checked first.

    A result is what its name says: the name is a digest of its plugins, versions and data, so that results of other
    versions stand beside ours and are never taken for them. Where the other side comes with digests of its files, as
    archives that were exported do, these are checked too.

    Args:
        store: that is added to.
        others: folders of results, archives, or folders to which an archive was unpacked.
        origin: where they come from, in words; the name of the folder or archive when empty.
        dry_run: checks and counts, and copies nothing.
    """
    counts = MergeCounts(0, 0)
    for other in others:
        with _unpacked(other) as folder:
            new, there, unlike = _merge_one(store, folder, origin or other.name, dry_run)
        counts = MergeCounts(counts.new + new, counts.there + there, counts.unlike + unlike)
    return counts


@contextlib.contextmanager
def _unpacked(other: Path) -> Iterator[Path]:
    """Yield a folder, unpacked where it is an archive; what its list of digests names is what it says."""
    if not other.exists():
        raise StoreError(f"there is no store at {other}")
    if other.is_dir():
        _check_sums(other, other)
        yield other
        return
    with OwnedFolder() as folder:
        try:
            with zipfile.ZipFile(other) as archive:
                _unpack(archive, folder)
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
            raise StoreError(
                f"{other} is no folder of results and no archive of rankplug results export ({error}); fetch it again"
            ) from error
        _check_sums(folder, other)
        yield folder


def _unpack(archive: zipfile.ZipFile, folder: Path) -> None:
    """Write an archive's files below a folder, whatever their names; a name that leads elsewhere is refused.

    No more is written of a file than it is said to be, so that what is too large is refused before it fills the disk.
    """
    needed, free = sum(member.file_size for member in archive.infolist()), shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(f"it unpacks to {needed:,} bytes, and {free:,} are free in {folder.parent}")
    for member in archive.infolist():
        target = (folder / member.filename).resolve()
        if not target.is_relative_to(folder.resolve()):
            raise OSError(f"{member.filename!r} would be written outside the folder of the archive")
        if member.is_dir():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as content, target.open("wb") as file:
            shutil.copyfileobj(content, file)


def _check_sums(folder: Path, shown: Path) -> None:
    if not (folder / SUMS).is_file():
        return
    digests = read_sums(folder / SUMS)
    problems = list(changed_files(folder, digests))
    results = {path.relative_to(folder).as_posix() for path in (folder / "results").rglob("*.parquet")}
    problems += [f"{path} is not in {SUMS}" for path in sorted(results - set(digests))]
    if problems:
        more = f" ({len(problems) - 1} more files like it)" if len(problems) > 1 else ""
        raise StoreError(f"{shown}: {problems[0]}{more}; nothing of it was merged; fetch it again")


def verify(folder: Path) -> tuple[int, list[str]]:
    """Compare an unpacked archive with its digests; return the number of files, and what is wrong."""
    if not (folder / SUMS).is_file():
        raise StoreError(f"{folder} has no {SUMS}; name an unpacked archive of rankplug results export")
    digests = read_sums(folder / SUMS)
    problems = list(changed_files(folder, digests))
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    problems += [f"{path} is not in {SUMS}: it was added" for path in sorted(there - set(digests) - {SUMS})]
    for path in sorted((folder / "results").glob("*/*.parquet")):
        try:
            _checked_name(path, folder / "results")
        except StoreError as error:
            problems.append(str(error))
    return len(digests), problems


def _merge_one(store: Store, folder: Path, origin: str, dry_run: bool) -> tuple[int, int, tuple[str, ...]]:
    source = Store(folder / "results" if (folder / SUMS).is_file() else folder)
    notebooks = (folder if (folder / SUMS).is_file() else source.folder) / NOTEBOOKS
    earlier, there, unlike = origins_of(source.folder), 0, []
    came: dict[str, dict[str, str]] = {}
    try:
        for path in source.files():
            name, content = _checked_name(path, source.folder), path.read_bytes()
            target = store.folder / name
            if _copy(store, path, target, dry_run):
                came.setdefault(earlier.get(name, origin), {})[name] = sha256_of(content)
                continue
            there += 1
            if target.exists() and not read_rows(target).equals(read_rows(path)):
                unlike.append(name)
    finally:
        # Results that were copied before one that is refused have come from there all the same.
        for source_name, digests in came.items() if not dry_run else ():
            write_origin(store.folder, source_name, digests)
    for path in sorted(source.folder.glob("*/*.failed.json")):
        read_failure(path)
        target = store.folder / path.relative_to(source.folder)
        if not Path(str(target).replace(".failed.json", ".parquet")).exists():
            _copy(store, path, target, dry_run)
    for path in sorted(source.folder.glob(f"{SCORES}/*/*.parquet")):
        read_scored(path)
        _copy(store, path, store.folder / path.relative_to(source.folder), dry_run)
    for path in _executed(notebooks):
        _copy(store, path, store.folder / NOTEBOOKS / path.name, dry_run)
    return sum(map(len, came.values())), there, tuple(unlike)


def _executed(folder: Path) -> list[Path]:
    """Return the notebooks in a folder that bear the name of a combination."""
    return [path for path in sorted(folder.glob("*.ipynb")) if path.is_file() and NOTEBOOK.fullmatch(path.name)]


def _checked_name(path: Path, folder: Path) -> str:
    """Return the path of a result in its store, once its description and its rows are those of that name."""
    about = read_about(path)
    read_rows(path)
    name = f"{about['identity']}/{about['identity']}-f{about['fold']}-t{about['trial']}.parquet"
    if str(path.relative_to(folder)) != name:
        raise StoreError(f"{path} is the result {name} by its description; move it out of the folder")
    parts = {"seed": 0, "patience": None, **about["combination"]}
    told = {"plugins", "versions", "data_fingerprint"} <= set(about)
    if told and identity_of(about["plugins"], about["versions"], parts, about["data_fingerprint"]) != about["identity"]:
        raise StoreError(
            f"{path} says of its plugins, versions or data something else than its name, which is a digest of them; it"
            " was changed after it was made: move it out of the folder"
        )
    return name


def _copy(store: Store, path: Path, target: Path, dry_run: bool) -> bool:
    if target.exists() or path.is_symlink():
        return False
    if not dry_run:
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
    if target.is_file() and target.stat().st_size and not zipfile.is_zipfile(target):
        raise StoreError(f"{target} is there already and is no archive; name another, or remove it")
    records = [read_about(path) for path in paths]
    try:
        with whole_file(target) as file:
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
    notebooks = _executed(store.folder / NOTEBOOKS)
    texts = {
        "README.txt": HOW_TO_RERUN,
        "sweep.yaml": yaml.safe_dump(sweep_file(records), sort_keys=False),
        "records.json": json.dumps(records, indent=1),
    }
    files = {f"results/{path.relative_to(store.folder).as_posix()}": path for path in paths}
    scores = sorted(store.folder.glob(f"{SCORES}/*/*.parquet"))
    files |= {f"results/{path.relative_to(store.folder).as_posix()}": path for path in scores}
    files |= {f"results/{ORIGINS}/{path.name}": path for path in sorted((store.folder / ORIGINS).glob("*.json"))}
    files |= {f"notebooks/{path.name}": path for path in notebooks}
    digests = {name: sha256_of(text.encode()) for name, text in texts.items()}
    digests |= {name: sha256_of(path.read_bytes()) for name, path in files.items()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for name, text in {**texts, SUMS: write_sums(digests)}.items():
            archive.writestr(name, text)
        for name, path in files.items():
            archive.write(path, Path(name))


def sweep_file(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the sweep that gave some results, as ``rankplug sweep`` reads it from a file."""
    grids = {record["identity"]: record["combination"] for record in records}
    # A list of names is one chain of transforms or metrics; a list of lists would be a grid of them.
    return {
        "folds": sorted({record["fold"] for record in records}),
        "trials": 1 + max(record["trial"] for record in records),
        "grids": list(grids.values()),
    }
