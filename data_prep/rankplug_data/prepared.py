"""Prepared data: arrays on disk that are mapped into memory, and a manifest that describes them.

A prepared set is a folder with ``features.npy``, ``labels.npy``, ``starts.npy``, ``query_ids.npy``, perhaps
``document_ids.npy``, and ``manifest.json``. Train, validation and test part of every fold are runs of queries of these
arrays. The folder is written under another name and renamed when it is complete, so that an interrupted preparation
leaves nothing that looks done.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

import rankplug
from rankplug.data import Lists, Split, in_words
from rankplug.errors import DataError
from rankplug.system import cache_folder, threads, whole_folder
from rankplug_data.catalogue import PARTS, PublishedCounts

FORMAT = 2
"""Increased when what is written changes; older folders are then prepared again."""
MANIFEST = "manifest.json"
ARRAYS = ("features", "labels", "starts", "query_ids")


def map_array(path: Path) -> NDArray[Any]:
    """Map the array in a ``.npy`` file of a folder that can be written again; nothing is unpickled."""
    try:
        array: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:
        # A damaged header raises errors of many kinds, of the tokenizer among others.
        raise DataError(
            f"{path} is damaged ({str(error)[:200]}); remove {path.parent}, and it is written again when it is needed"
        ) from error
    return array


@dataclass(frozen=True)
class Statistics:
    """The numbers of a data set; ``labels`` has the documents of each label, ``used_features`` are not all zero."""

    queries: int
    documents: int
    features: int
    used_features: int
    labels: Mapping[str, int]
    without_relevant: int
    shortest: int
    longest: int

    @classmethod
    def count(cls, parts: Iterable[Lists], used_features: int) -> Statistics:
        """Count the numbers of some parts together; ``used_features`` has been counted while reading."""
        parts = list(parts)
        labels = np.concatenate([part.labels for part in parts])
        lengths = np.concatenate([part.lengths for part in parts])
        best = np.maximum.reduceat(labels, np.cumsum(lengths) - lengths)
        values, counts = np.unique(labels, return_counts=True)
        return cls(
            queries=int(lengths.size),
            documents=int(labels.size),
            features=int(parts[0].features.shape[1]),
            used_features=used_features,
            labels={f"{value:g}": int(number) for value, number in zip(values, counts, strict=True)},
            without_relevant=int((best <= 0).sum()),
            shortest=int(lengths.min()),
            longest=int(lengths.max()),
        )

    def __str__(self) -> str:
        labels = ", ".join(f"{count:,} of label {label}" for label, count in self.labels.items())
        return (
            f"{self.queries:,} queries, {self.without_relevant:,} of them without a relevant document\n"
            f"{self.documents:,} documents: {labels}\n"
            f"{self.features} features, {self.used_features} of them not zero throughout\n"
            f"lists of {self.shortest} to {self.longest} documents"
        )

    def differences(self, published: PublishedCounts, parts: Mapping[str, Lists]) -> list[str]:
        """Return a sentence for each number that differs from the published one."""
        pairs: list[tuple[str, float, float]] = [
            ("queries", published.queries, self.queries),
            ("documents", published.documents, self.documents),
        ]
        if published.used_features is not None:
            pairs.append(("features that are not zero throughout", published.used_features, self.used_features))
        counts = {str(label): count for label, count in enumerate(published.labels)}
        pairs += [
            (f"documents of label {label}", counts.get(label, 0), self.labels.get(label, 0))
            for label in sorted({*counts, *self.labels} if counts else ())
        ]
        for label, percent in enumerate(published.label_percent):
            share = 100 * self.labels.get(str(label), 0) / max(self.documents, 1)
            pairs.append((f"percent of label {label}", percent, round(share, 2)))
        for part, (queries, documents) in published.parts.items():
            pairs.append((f"queries of {part}", queries, len(parts[part])))
            pairs.append((f"documents of {part}", documents, parts[part].documents))
        return [
            f"{what}: published {expected:,}, found {actual:,}"
            for what, expected, actual in pairs
            if expected != actual
        ]


@dataclass
class Manifest:
    """Manifest of a prepared folder.

    Args:
        name: the data set.
        source: the file or folder that was read.
        folds: first and last query (exclusive) of each part of each fold.
        version: its version, empty where there is one.
        texts: digest and size of each text that was read.
        steps: what was done, in words.
        fingerprints: digest of each part of each fold, as :attr:`rankplug.Lists.fingerprint`.
        statistics: the numbers of the whole set.
        warnings: differences from the published numbers, and other remarks.
        skipped: number of broken lines that were left out.
        skipped_lines: sentences about the first of them.
        made_with: the version of rankplug.
        feature_names: one per feature, where they have names.
        categorical: positions of features that are codes of categories.
        categories: levels of categories by feature, in the order of their codes.
        columns: what the columns of a table were taken as.
        format: the layout of the folder.
    """

    name: str
    source: str
    folds: dict[str, dict[str, tuple[int, int]]]
    version: str = ""
    texts: dict[str, dict[str, Any]] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    fingerprints: dict[str, dict[str, str]] = field(default_factory=dict)
    statistics: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    skipped: int = 0
    skipped_lines: list[str] = field(default_factory=list)
    made_with: str = rankplug.__version__
    feature_names: list[str] = field(default_factory=list)
    categorical: list[int] = field(default_factory=list)
    categories: dict[str, list[str]] = field(default_factory=dict)
    columns: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT


class PreparedData:
    """A prepared folder, mapped into memory."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest

    @classmethod
    def open(cls, folder: Path) -> PreparedData | None:
        """Open the prepared data in this folder; None if there are none, or of an older layout."""
        try:
            content = json.loads((folder / MANIFEST).read_bytes())
            if content.get("format") != FORMAT:
                return None
            manifest = Manifest(**content)
            Statistics(**manifest.statistics)
            for fold, parts in manifest.folds.items():
                if not set(parts) <= set(PARTS) or any(not 0 <= first <= last for first, last in parts.values()):
                    raise ValueError(f"the parts of fold {int(fold)}")
            if not manifest.folds or not all(fold.items() for fold in manifest.fingerprints.values()):
                raise ValueError("no folds")
            return cls(folder, manifest)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            raise DataError(f"{folder / MANIFEST} is damaged ({error}); remove {folder} to prepare it again") from error

    @property
    def folds(self) -> list[int]:
        return sorted(int(fold) for fold in self.manifest.folds)

    def parts(self, fold: int) -> dict[str, Lists]:
        """Return the parts of a fold."""
        manifest = self.manifest
        names = (*ARRAYS, "document_ids") if (self.folder / "document_ids.npy").exists() else ARRAYS
        arrays: dict[str, Any] = {name: map_array(self.folder / f"{name}.npy") for name in names}
        whole = Lists(
            **arrays,
            source=manifest.name,
            feature_names=tuple(manifest.feature_names),
            categorical=tuple(manifest.categorical),
            categories={name: tuple(levels) for name, levels in manifest.categories.items()},
            columns=manifest.columns,
        )
        bounds = manifest.folds.get(str(fold), {})
        if not bounds or max(last for _, last in bounds.values()) > len(whole):
            raise DataError(f"{self.folder / MANIFEST} is damaged; remove {self.folder} to prepare it again")
        parts = {}
        for part, (first, last) in bounds.items():
            lists = replace(whole[first:last], source=f"{manifest.name} fold {fold} {part}")
            fingerprint = manifest.fingerprints.get(str(fold), {}).get(part)
            parts[part] = lists if fingerprint is None else lists.with_fingerprint(fingerprint)
        return parts

    def fingerprint(self, fold: int) -> str:
        """Return the digest of a fold."""
        parts = self.manifest.fingerprints[str(fold)]
        return hashlib.blake2b("".join(parts[part] for part in sorted(parts)).encode(), digest_size=8).hexdigest()

    def split(self, fold: int) -> Split:
        """Return train, validation and test part of a fold."""
        parts = self.parts(fold)
        return Split(*(parts[part] for part in PARTS))

    def report(self, remark: str = "") -> str:
        """Describe the data in words: the numbers of the whole set, the sizes of the folds, and what is unusual."""
        manifest = self.manifest
        lines = [f"{manifest.name} {manifest.version}".strip() + f", prepared in {self.folder}"]
        lines += [in_words(manifest.columns)] if manifest.columns else []
        lines += str(Statistics(**manifest.statistics)).splitlines()
        for fold in self.folds:
            sizes = (
                f"{name} {len(part)} queries, {part.documents} documents" for name, part in self.parts(fold).items()
            )
            lines.append(f"fold {fold}: {'; '.join(sizes)}")
        lines += [remark] if remark else []
        lines += [f"warning: {sentence}" for sentence in manifest.warnings]
        if manifest.skipped:
            lines += [f"{manifest.skipped} broken lines left out, such as:", *manifest.skipped_lines[:5]]
        return "\n".join(lines)

    def problems(self) -> list[str]:
        """Read everything again; return a sentence for each damage and for queries that two parts of a fold share."""
        problems = []
        for fold in self.folds:
            try:
                parts = self.parts(fold)
            except DataError as error:
                return [str(error)]
            seen: dict[Any, str] = {}
            for name, part in parts.items():
                if replace(part).fingerprint != part.fingerprint:
                    problems.append(
                        f"fold {fold} {name}: the arrays have changed; remove {self.folder} to prepare it again"
                    )
                shared = [query for query in np.unique(part.query_ids).tolist() if seen.setdefault(query, name) != name]
                if shared:
                    problems.append(
                        f"fold {fold}: query {shared[0]} is in {seen[shared[0]]} and in {name} ({len(shared)} such)"
                    )
        return problems


def prepared_folder() -> Path:
    """Return the folder of all prepared data."""
    return cache_folder() / "data"


def downloads_folder() -> Path:
    """Return the folder of downloaded files."""
    return cache_folder() / "downloads"


def prepare(
    folder: Path, source: Path, write: Callable[[Path], None], is_current: Callable[[PreparedData], bool]
) -> PreparedData:
    """Return the prepared data in ``folder``; two processes at once prepare them once.

    Args:
        folder: where they are stored.
        source: what is read, for messages.
        write: writes arrays and manifest into an empty folder.
        is_current: returns whether prepared data that exist are to be used.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f"{folder.name}.lock")):
            prepared = PreparedData.open(folder)
            if prepared is not None and is_current(prepared):
                return prepared
            with whole_folder(folder, replace=True) as unfinished:
                write(unfinished)
            prepared = PreparedData.open(folder)
    except OSError as error:
        raise DataError(
            f"cannot prepare {source} in {folder}: {error.strerror or error}; free space or allow writing"
            " there, or name another folder with RANKPLUG_CACHE"
        ) from error
    if prepared is None:
        raise DataError(f"{folder} vanished while it was prepared; run it again")
    return prepared


def write_prepared(
    folder: Path,
    manifest: Manifest,
    columns: Mapping[str, Any],
    used_features: int,
    published: PublishedCounts | None = None,
) -> None:
    """Write all but the features, which are in the folder already.

    Args:
        folder: where to write.
        manifest: the manifest, without statistics and fingerprints.
        columns: ``labels``, ``lengths`` of the lists, ``query_ids`` and perhaps ``document_ids``.
        used_features: number of columns that are not all zero.
        published: numbers to compare with.
    """
    starts = np.concatenate([[0], np.cumsum(columns["lengths"])])
    for name in ("labels", "starts", "query_ids", "document_ids"):
        column = starts if name == "starts" else columns.get(name)
        if column is not None:
            np.save(folder / f"{name}.npy", column)
    prepared = PreparedData(folder, manifest)
    for fold in reversed(prepared.folds):
        parts = prepared.parts(fold)
        with ThreadPoolExecutor(threads()) as pool:
            digests = pool.map(lambda part: part.fingerprint, parts.values())
            manifest.fingerprints[str(fold)] = dict(zip(parts, digests, strict=True))
    statistics = Statistics.count(parts.values(), used_features)
    manifest.statistics = asdict(statistics)
    if published is not None:
        manifest.warnings += statistics.differences(published, parts)
    with (folder / MANIFEST).open("w", encoding="utf-8") as file:
        json.dump(asdict(manifest), file, indent=1)
