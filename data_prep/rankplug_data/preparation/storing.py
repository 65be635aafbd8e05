"""Prepared data on disk: arrays that are mapped into memory, and a manifest that says what they are.

A prepared set is a folder with ``features.npy``, ``labels.npy``, ``starts.npy``, ``query_ids.npy``, perhaps
``document_ids.npy``, and ``manifest.json``. Train, validation and test of every fold are runs of queries of these
arrays. The folder is written under another name and renamed when it is whole, so that an interrupted preparation leaves
nothing that looks done.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Lists, Split
from rankplug.errors import DataError
from rankplug_data.mapped_arrays import map_array
from rankplug_data.preparation.statistics import Statistics
from rankplug_data.public.benchmark import PARTS

FORMAT = 1
"""Raised when what is written changes; older folders are then prepared anew."""
MANIFEST = "manifest.json"
ARRAYS = ("features", "labels", "starts", "query_ids")
OPTIONAL = ("document_ids",)


@dataclass
class Manifest:
    """Manifest of a prepared folder.

    Args:
        name: the data set.
        version: its version, empty where there is one.
        source: the file or folder it was made from.
        texts: digest and size of each text that was read.
        folds: first and last query (exclusive) of each part of each fold.
        steps: what was done, in words.
        fingerprints: digest of each part of each fold, as :attr:`rankplug.Lists.fingerprint`.
        statistics: the numbers of the whole set.
        warnings: what is not as published.
        skipped: how many broken lines were left out, and the first of them.
        made_with: the version of rankplug.
        feature_names: one a feature, where they have names.
        format: the layout of the folder.
    """

    name: str
    version: str
    source: str
    texts: dict[str, dict[str, Any]]
    folds: dict[str, dict[str, tuple[int, int]]]
    steps: list[str]
    fingerprints: dict[str, dict[str, str]] = field(default_factory=dict)
    statistics: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    skipped: dict[str, Any] = field(default_factory=dict)
    made_with: str = ""
    feature_names: list[str] = field(default_factory=list)
    format: int = FORMAT


def _check(manifest: Manifest) -> None:
    """Raise a ValueError, or an error for values of other kinds, if a manifest cannot be what was written."""
    if not manifest.folds:
        raise ValueError("it has no folds")
    for fold, parts in manifest.folds.items():
        int(fold)
        for part, (first, last) in parts.items():
            if part not in PARTS or not 0 <= first <= last:
                raise ValueError(f"fold {fold} has the part {part!r} from {first} to {last}")
    for fingerprints in manifest.fingerprints.values():
        fingerprints.items()
    Statistics(**manifest.statistics)
    manifest.skipped["lines"], manifest.skipped["first"]


class PreparedData:
    """A prepared folder, mapped into memory."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest

    @classmethod
    def open(cls, folder: Path) -> PreparedData | None:
        """Open the prepared data in this folder; None if there are none, or of an older layout."""
        try:
            content = json.loads((folder / MANIFEST).read_bytes())
            if content.get("format") != FORMAT:
                return None
            manifest = Manifest(**content)
            _check(manifest)
            return cls(folder, manifest)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            raise DataError(f"{folder / MANIFEST} is damaged ({error}); remove {folder} to prepare it anew") from error

    @property
    def folds(self) -> list[int]:
        return sorted(int(fold) for fold in self.manifest.folds)

    def whole(self) -> Lists:
        """Return everything that is stored; queries that several folds share may stand twice."""
        arrays: dict[str, Any] = {
            name: map_array(self._path(name))
            for name in (*ARRAYS, *OPTIONAL)
            if self._path(name).exists() or name in ARRAYS
        }
        return Lists(**arrays, source=self.manifest.name, feature_names=tuple(self.manifest.feature_names))

    def parts(self, fold: int) -> dict[str, Lists]:
        """Return the parts of a fold that there are."""
        whole = self.whole()
        parts = {}
        known = self.manifest.folds.get(str(fold), {})
        if not known or max(last for _, last in known.values()) > len(whole):
            raise DataError(f"{self.folder / MANIFEST} is damaged; remove {self.folder} to prepare it anew")
        for part, (first, last) in known.items():
            lists = replace(whole[first:last], source=f"{self.manifest.name} fold {fold} {part}")
            fingerprint = self.manifest.fingerprints.get(str(fold), {}).get(part)
            parts[part] = lists if fingerprint is None else lists.with_fingerprint(fingerprint)
        return parts

    def fingerprint(self, fold: int) -> str:
        """Return the digest of a fold."""
        parts = self.manifest.fingerprints[str(fold)]
        return hashlib.blake2b("".join(parts[part] for part in sorted(parts)).encode(), digest_size=8).hexdigest()

    def split(self, fold: int) -> Split:
        """Train, validation and test of a fold."""
        parts = self.parts(fold)
        return Split(*(parts[part] for part in PARTS))

    def report(self, later: str = "") -> str:
        """Describe the data in words: the statistics of the whole set, the sizes of the folds, and what is unusual.

        Args:
            later: what becomes of the parts when they are loaded, where they do not stay as they are stored.
        """
        manifest = self.manifest
        lines = [f"{manifest.name} {manifest.version}".strip() + f", prepared in {self.folder}"]
        lines += str(Statistics(**manifest.statistics)).splitlines()
        for fold in self.folds:
            sizes = [
                f"{name} {len(part)} queries, {part.documents} documents" for name, part in self.parts(fold).items()
            ]
            lines.append(f"fold {fold}: {'; '.join(sizes)}")
        lines += [later] if later else []
        lines += [f"warning: {sentence}" for sentence in manifest.warnings]
        if manifest.skipped["lines"]:
            lines.append(f"{manifest.skipped['lines']} broken lines left out, such as:")
            lines += manifest.skipped["first"][:5]
        return "\n".join(lines)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npy"


def write_array(folder: Path, name: str, array: NDArray[Any]) -> None:
    """Store one array of a prepared folder."""
    np.save(folder / f"{name}.npy", array)


def new_rows(path: Path, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Make an array in a file that is mapped into memory, with room for all of it: where the disk is full only later,
    the process that writes there ends.
    """
    rows: NDArray[np.float32] = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return rows


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Store the manifest, which is written last."""
    with (folder / MANIFEST).open("w", encoding="utf-8") as file:
        json.dump(asdict(manifest), file, indent=1)
        file.flush()
        os.fsync(file.fileno())


def lock_of(folder: Path) -> Path:
    """Return the file that whoever makes a prepared folder locks."""
    return folder.with_name(f"{folder.name}.lock")


def join_rows(path: Path, parts: list[tuple[Path, tuple[int, int]]]) -> None:
    """Join files of rows without a header into one ``.npy`` file; each part is its file with its rows and columns.

    A part may come several times; its file is removed when it has come for the last time.
    """
    width = max(columns for _, (_, columns) in parts)
    rows = sum(shape[0] for _, shape in parts)
    with path.open("wb") as joined:
        header = {"descr": "<f4", "fortran_order": False, "shape": (rows, width)}
        np.lib.format.write_array_header_1_0(joined, header)
        for position, (part, shape) in enumerate(parts):
            _append(joined, part, shape, width)
            if part not in [later for later, _ in parts[position + 1 :]]:
                part.unlink()


def _append(joined: Any, part: Path, shape: tuple[int, int], width: int) -> None:
    rows, columns = shape
    if columns == width:
        with part.open("rb") as file:
            shutil.copyfileobj(file, joined, 1 << 24)
        return
    narrow = np.memmap(part, np.float32, "r", shape=shape)
    for first in range(0, rows, 1 << 14):
        block = narrow[first : first + (1 << 14)]
        joined.write(np.pad(block, ((0, 0), (0, width - columns))).data)
