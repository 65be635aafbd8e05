"""Merging stores of several machines, and exporting results with everything needed to run them again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from rankplug.store._combination import Combination, identity_of
from rankplug.store._files import (
    SCORES,
    StoreError,
    path_in_store,
    read_about,
    read_failure,
    read_scores,
    read_table,
)
from rankplug.store._store import NOTEBOOK, NOTEBOOKS, Store
from rankplug.system import OwnedFolder, whole_file, write_whole

ORIGINS = "origins"
ORIGIN = "origin"
"""The column with the source of a merged result; empty for results of this store."""
SUMS = "SHA256SUMS"
SUM = re.compile(r"([0-9a-f]{64})  (.+)")
ALWAYS_UNPACKED = 100 * 2**20
MOST_GROWTH = 50
"""Bytes that an archive may unpack to, and times its own size; results hardly compress."""
HOW_TO_RERUN = """These results were exported by rankplug.

results/          one Parquet file per finished trial, for rankplug results --store results or any Parquet reader
results/scores/   scores of test documents, where they were stored: other metrics are measured without training
notebooks/        the executed notebooks
sweep.yaml        what was run: rankplug sweep sweep.yaml runs exactly this again
SHA256SUMS        digests of the files: sha256sum --check SHA256SUMS; rankplug results merge checks them
records.json      for each trial its combination, seed, plugins with all parameters, versions, digests of data, timings
"""


@dataclass
class MergeCounts:
    """Counts of a merge.

    Args:
        new: number of results that were added.
        there: number of results that the store has already; they are not changed.
        unlike: those of them that have other numbers in the other store.
    """

    new: int = 0
    there: int = 0
    unlike: tuple[str, ...] = ()


def merge(store: Store, others: Iterable[Path], origin: str = "", dry_run: bool = False) -> MergeCounts:
    """Copy results, failures and notebooks of other stores that this one lacks; every result is checked first.

    The name of a result is a digest of its plugins, versions and data, so results of other versions are added beside
    ours and never taken for them. Where the other store has digests of its files, as exported archives do, these are
    checked too. If anything is refused, nothing of that store is merged.

    Args:
        store: the store that is added to.
        others: folders of results, archives, or folders to which an archive was unpacked.
        origin: name of the source; the name of the folder or archive when empty.
        dry_run: whether to check and count only, and copy nothing.
    """
    counts = MergeCounts()
    for other in others:
        with _unpacked(other) as folder:
            _merge_folder(store, folder, origin or other.name, dry_run, counts)
    return counts


@contextlib.contextmanager
def _unpacked(other: Path) -> Iterator[Path]:
    """Yield a folder whose files are those of its list of digests, unpacked where it is an archive."""
    if not other.exists():
        raise StoreError(f"there is no store at {other}")
    if other.is_dir():
        _check_sums(other, other)
        yield other
        return
    with OwnedFolder() as folder:
        try:
            with zipfile.ZipFile(other) as archive:
                _unpack(archive, folder, other.stat().st_size)
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
            raise StoreError(
                f"{other} is no folder of results and no archive of rankplug results export ({error}); fetch it again"
            ) from error
        _check_sums(folder, other)
        yield folder


def _unpack(archive: zipfile.ZipFile, folder: Path, size: int) -> None:
    """Write an archive's files below a folder; names that lead elsewhere and archives that grow too much are refused.

    zipfile writes no more of a file than its recorded size, so the sum is checked before anything is written.
    """
    needed, free = sum(member.file_size for member in archive.infolist()), shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(f"it unpacks to {needed:,} bytes, and {free:,} are free in {folder.parent}")
    if needed > ALWAYS_UNPACKED + MOST_GROWTH * size:
        raise OSError(f"it unpacks to {needed:,} bytes, more than {MOST_GROWTH} times its size")
    for member in archive.infolist():
        target = (folder / member.filename).resolve()
        if not target.is_relative_to(folder.resolve()):
            raise OSError(f"{member.filename!r} would be written outside the folder of the archive")
        if member.is_dir():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as content, target.open("wb") as file:
            shutil.copyfileobj(content, file)


def _merge_folder(store: Store, folder: Path, origin: str, dry_run: bool, counts: MergeCounts) -> None:
    exported = (folder / SUMS).is_file()
    source = Store(folder / "results" if exported else folder)
    earlier = origins_of(source.folder)
    digests: dict[str, dict[str, str]] = {}
    new: dict[Path, Path] = {}
    for path in source.files():
        name = _checked_name(path, source.folder)
        target = store.folder / name
        if target.exists():
            counts.there += 1
            if not read_table(target)[1].to_pandas().equals(read_table(path)[1].to_pandas()):
                counts.unlike += (name,)
        elif not path.is_symlink():
            counts.new += 1
            new[target] = path
            digests.setdefault(earlier.get(name, origin), {})[name] = sha256_of(path)
    for path in sorted(source.folder.glob("*/*.failed.json")):
        read_failure(path)
        target = store.folder / path.relative_to(source.folder)
        result = Path(str(target).replace(".failed.json", ".parquet"))
        if result not in new and not result.exists():
            new[target] = path
    for path in sorted(source.folder.glob(f"{SCORES}/*/*.parquet")):
        read_scores(path)
        new[store.folder / path.relative_to(source.folder)] = path
    new |= {store.folder / NOTEBOOKS / path.name: path for path in _executed(folder / NOTEBOOKS)}
    if dry_run:
        return
    # Before the results, so that a merge that is killed loses no origin.
    for name, files in digests.items():
        _write_origin(store.folder, name, files)
    for target, path in new.items():
        if not target.exists() and not path.is_symlink():
            store.write_file(target, path.read_bytes())


def _executed(folder: Path) -> list[Path]:
    """Return the notebooks in a folder that are named by a combination."""
    return [path for path in sorted(folder.glob("*.ipynb")) if path.is_file() and NOTEBOOK.fullmatch(path.name)]


def _checked_name(path: Path, folder: Path) -> str:
    """Return the path of a result in its store, after checking that description and rows belong to that name."""
    about, _ = read_table(path)
    name = path_in_store(about["identity"], about["fold"], about["trial"])
    if path.relative_to(folder) != name:
        raise StoreError(f"{path} is the result {name} by its description; move it out of the folder")
    try:
        parts = Combination(**about["combination"]).model_dump(mode="json")
        identity = identity_of(about["plugins"], about["versions"], parts, about["data_fingerprint"])
    except KeyError as error:
        raise StoreError(f"{path} is damaged (its description has no {error}); move it out of the folder") from error
    if identity != about["identity"]:
        raise StoreError(
            f"{path} was changed after it was written: its name is not the digest of its plugins, versions and data;"
            " move it out of the folder"
        )
    return name.as_posix()


def export(store: Store, target: Path) -> Path:
    """Write a zip archive of all results with everything needed to run them again."""
    paths = store.paths()
    if not paths:
        raise StoreError(f"there is nothing to export in {store.folder}")
    if target.is_file() and target.stat().st_size and not zipfile.is_zipfile(target):
        raise StoreError(f"{target} is there already and is no archive; name another, or remove it")
    records = [read_about(path) for path in paths]
    try:
        with whole_file(target) as file:
            _write_archive(store, paths, records, file)
    except OSError as error:
        raise StoreError(
            f"cannot write {target}: {error.strerror or error}; free space, or name a file in a folder that can be"
            " written"
        ) from error
    return target


def _write_archive(store: Store, paths: Iterable[Path], records: Sequence[dict[str, Any]], file: BinaryIO) -> None:
    texts = {
        "README.txt": HOW_TO_RERUN,
        "sweep.yaml": yaml.safe_dump(_sweep_file(records), sort_keys=False),
        "records.json": json.dumps(records, indent=1),
    }
    results = [*paths, *sorted(store.folder.glob(f"{SCORES}/*/*.parquet"))]
    results += sorted((store.folder / ORIGINS).glob("*.json"))
    files = {f"results/{path.relative_to(store.folder).as_posix()}": path for path in results}
    files |= {f"notebooks/{path.name}": path for path in _executed(store.folder / NOTEBOOKS)}
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    digests |= {name: sha256_of(path) for name, path in files.items()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        sums = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
        for name, text in {**texts, SUMS: sums}.items():
            archive.writestr(name, text)
        for name, path in files.items():
            archive.write(path, Path(name))


def _sweep_file(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a sweep of exactly the recorded trials, as ``rankplug sweep`` reads it from a file."""
    grids: dict[str, dict[str, Any]] = {}
    for record in sorted(records, key=lambda record: (record["identity"], record["fold"], record["trial"])):
        # A list of names is one chain of transforms or metrics; a list of lists would be a grid of them.
        grid = grids.setdefault(record["identity"], {**record["combination"], "runs": []})
        grid["runs"].append([record["fold"], record["trial"]])
    return {"grids": list(grids.values())}


def sha256_of(path: Path) -> str:
    """Return the SHA-256 digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _problems(folder: Path) -> tuple[int, list[str]]:
    """Compare a folder with its list of digests; return the number of digests, and a sentence per problem."""
    root, list_of_digests = folder.resolve(), folder / SUMS
    digests, problems = {}, []
    try:
        lines = list_of_digests.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"cannot read {list_of_digests}: {error}") from error
    for number, line in enumerate(lines, 1):
        match = SUM.fullmatch(line)
        if match is None:
            raise StoreError(
                f"{list_of_digests}, line {number}: expected a SHA-256 digest and a path, found {line[:80]!r}"
            )
        digests[match[2]] = match[1]
    for name, digest in digests.items():
        file = root / name
        if not file.resolve().is_relative_to(root):
            problems.append(f"{name} lies outside of {folder}")
        elif not file.is_file():
            problems.append(f"{name} is missing")
        elif sha256_of(file) != digest:
            problems.append(f"{name} was changed: its SHA-256 digest is not that of {SUMS}")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    problems += [f"{name} is not in {SUMS}: it was added" for name in sorted(there - set(digests) - {SUMS})]
    return len(digests), problems


def _check_sums(folder: Path, other: Path) -> None:
    problems = _problems(folder)[1] if (folder / SUMS).is_file() else []
    if problems:
        more = f" ({len(problems) - 1} more files like it)" if len(problems) > 1 else ""
        raise StoreError(f"{other}: {problems[0]}{more}; nothing of it was merged; fetch it again")


def verify(folder: Path) -> tuple[int, list[str]]:
    """Compare an unpacked archive with its digests; return the number of files, and a sentence per problem."""
    if not (folder / SUMS).is_file():
        raise StoreError(f"{folder} has no {SUMS}; name the folder of an unpacked archive of rankplug results export")
    count, problems = _problems(folder)
    for path in sorted((folder / "results").glob("*/*.parquet")):
        try:
            _checked_name(path, folder / "results")
        except StoreError as error:
            problems.append(str(error))
    return count, problems


def _write_origin(folder: Path, origin: str, digests: Mapping[str, str]) -> None:
    """Record that results come from elsewhere; the files of the results stay unchanged."""
    record = {"origin": origin, "merged": time.time(), "files": dict(sorted(digests.items()))}
    name = hashlib.blake2b(json.dumps([origin, *sorted(digests)]).encode(), digest_size=8).hexdigest()
    write_whole(folder / ORIGINS / f"{name}.json", json.dumps(record, indent=1).encode())


def origins_of(folder: Path) -> dict[str, str]:
    """Return the source of each merged result of a store, by path in the store."""
    origins: dict[str, str] = {}
    for file in sorted((folder / ORIGINS).glob("*.json")):
        try:
            record = json.loads(file.read_bytes())
            origins |= dict.fromkeys(record["files"], str(record["origin"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreError(f"{file} does not name the source of results; delete it and merge them again") from error
    return origins
