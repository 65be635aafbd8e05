"""Conversion of a release in LETOR text, an archive or folder with files of several folds, to prepared arrays.

The five folds of LETOR and MSLR share five disjoint parts S1 ... S5: fold k trains on three, validates on the fourth
and tests on the fifth. Stored as S1 S2 S3 S4 S5 S1 S2, the training part of each fold is one run of rows, so only the
five test files of such a release are read. The parts of all other folders are stored side by side.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rankplug.errors import DataError
from rankplug_data.archives import SUFFIXES, Block, Member, members
from rankplug_data.catalogue import PARTS, PublishedCounts
from rankplug_data.letor import Columns, OnError, SkippedLines, documents_of, join_columns
from rankplug_data.prepared import Manifest, write_prepared

FOLD = re.compile(r"fold[ _-]?(\d+)", re.IGNORECASE)
COMPRESSED = (".gz", ".xz", ".bz2")
ROTATING = 5
SIZE_SLACK = 8
"""Bytes by which a joined file may differ from its parts: a missing newline or two."""


class Place(NamedTuple):
    """A part of a fold."""

    fold: int
    part: str

    def __str__(self) -> str:
        return f"fold {self.fold} {self.part}"


class NotAsReleasedError(DataError):
    """A source that lacks the files that it should have."""


@dataclass(frozen=True)
class Layout:
    """Layout of a release.

    Args:
        folds: number of folds; with one, no folder ``Fold1`` is needed.
        files: names of the files of each part.
        version: the requested version, empty where there is one.
        versions: names of all versions.
        others: names of folders that hold other sets.
    """

    folds: int
    files: Mapping[str, tuple[str, ...]]
    version: str = ""
    versions: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def place_of(self, path: str, archive: str = "") -> Place | None:
        """Return the fold and part that the file at this path of an archive holds; None for other files.

        >>> layout = Layout(5, {"train": ("trainingset.txt",)}, version="min", versions=("norm", "min"))
        >>> layout.place_of("OHSUMED/min/Fold3/trainingset.txt")
        Place(fold=3, part='train')
        """
        *folders, name = PurePosixPath(path).parts
        name = name.lower()
        for ending in COMPRESSED:
            name = name.removesuffix(ending)
        part = next((part for part, names in self.files.items() if name in names), None)
        if part is None:
            return None
        plain = [_plain(folder) for folder in (archive, *folders)]
        named = [version for version in self.versions if _plain(version) in plain]
        if self.versions and (named or [self.versions[0]]) != [self.version]:
            return None
        if any(_plain(other) in plain for other in self.others):
            return None
        folds = [int(match[1]) for folder in folders if (match := FOLD.fullmatch(folder))]
        if not folds:
            return Place(1, part) if self.folds == 1 else None
        return Place(folds[-1], part) if 1 <= folds[-1] <= self.folds else None


def _plain(name: str) -> str:
    """Normalise a name: case, hyphens and underscores do not matter."""
    return re.sub(r"[-_ .]", "", name).lower()


def stem_of(name: str) -> str:
    """Return a file's name without the ending of an archive."""
    endings = [ending for ending in SUFFIXES if name.lower().endswith(ending)]
    return name[: -max(map(len, endings))] if endings else name


def same_name(name: str, other: str) -> bool:
    """Return whether two names of archives or folders mean the same."""
    return _plain(stem_of(name)) == _plain(other)


def files_of(source: Path, layout: Layout) -> Iterator[tuple[Place | None, Member]]:
    """Yield the files of an archive or folder with what each holds, None for files that are not read."""
    archive = stem_of(source.name)
    for member in members(source):
        yield layout.place_of(member.name, archive), member


@dataclass(kw_only=True)
class Release:
    """A release in LETOR text.

    Args:
        name: the data set.
        source: the archive or folder.
        files: function that yields each file with what it holds.
        columns: numbers of the features.
        folds: largest number of folds.
        parts: the parts that a fold must have.
        rotates: whether the folds share five parts.
        on_error: ``skip`` leaves broken lines out.
        expected: what the source should hold, for messages.
        version: its version, empty where there is one.
        published: numbers to compare with.
    """

    name: str
    source: Path
    files: Callable[[], Iterator[tuple[Place | None, Member]]]
    columns: Columns
    folds: int = 1
    parts: Sequence[str] = PARTS
    rotates: bool = False
    on_error: OnError = "raise"
    expected: str = ""
    version: str = ""
    published: PublishedCounts | None = None
    _texts: dict[Place, _Text] = field(default_factory=dict)
    _skipped: SkippedLines = field(default_factory=SkippedLines)

    def write(self, folder: Path) -> None:
        """Read all needed texts, and write the prepared data into a folder."""
        sizes: dict[Place, int | None] = {}
        others = set()
        if self.rotates:
            others = self._walk(folder, sizes, lambda place: place.part == "test")
        if self.rotates and _may_rotate(sizes):
            order = [_share(number) for number in range(1, ROTATING + 3)]
            distinct = ROTATING
            runs = {fold: {"train": (fold - 1, fold + 2)} for fold in range(1, ROTATING + 1)}
            for fold, parts in runs.items():
                for part, position in (("valid", (fold + 2) % ROTATING), ("test", (fold + 3) % ROTATING)):
                    parts[part] = position, position + 1
        else:
            others |= self._walk(folder, sizes, lambda place: True)
            complete = sorted({fold for fold, _ in sizes if all(Place(fold, part) in sizes for part in self.parts)})
            if not complete:
                present = sorted(map(str, sizes)) or sorted(others)[:5] or ["nothing"]
                raise NotAsReleasedError(
                    f"{self.source} does not hold {self.name}: expected {self.expected}, found {', '.join(present)}"
                )
            there = [part for part in PARTS if Place(complete[0], part) in sizes]
            order = [Place(fold, part) for fold in complete for part in there]
            distinct = len(there)
            runs = {fold: {} for fold in complete}
            for position, place in enumerate(order):
                runs[place.fold][place.part] = position, position + 1
        self._store(folder, order, distinct, runs)

    def _walk(self, folder: Path, sizes: dict[Place, int | None], wanted: Callable[[Place], bool]) -> set[str]:
        """Read some of the files; return the names of files that belong to no part."""
        names: dict[Place, str] = {}
        others = set()
        for place, member in self.files():
            if place is None:
                others.add(member.name)
                continue
            if place in names:
                raise DataError(
                    f"{self.source} holds {names[place]} and {member.name}, and both are {place}; remove one of them"
                )
            names[place], sizes[place] = member.name, member.size
            if wanted(place) and place not in self._texts:
                rows = folder / f"fold{place.fold}-{place.part}.rows"
                self._texts[place] = _read_text(member, rows, self.columns, self.on_error, self._skipped)
        return others

    def _store(
        self, folder: Path, order: list[Place], distinct: int, runs: dict[int, dict[str, tuple[int, int]]]
    ) -> None:
        """Write the texts in an order, of which the first ``distinct`` are the whole set, and ``runs`` are parts."""
        stored = [self._texts[place] for place in order]
        width = max(text.used.size for text in stored)
        columns = {name: np.concatenate([text.columns[name] for text in stored]) for name in stored[0].columns}
        if not (columns["document_ids"] != "").any():
            del columns["document_ids"]
        with (folder / "features.npy").open("wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (columns["labels"].size, width)}
            np.lib.format.write_array_header_1_0(file, header)
            for text in stored:
                text.copy_rows(file, width)
        for text in self._texts.values():
            text.rows.unlink()
        ends = np.cumsum([0, *(text.columns["lengths"].size for text in stored)]).tolist()
        texts = {text.name: {"sha256": text.sha256, "bytes": text.size} for text in stored}
        manifest = Manifest(
            name=self.name,
            version=self.version,
            source=str(self.source.resolve()),
            texts=texts,
            folds={
                str(fold): {part: (ends[first], ends[last]) for part, (first, last) in parts.items()}
                for fold, parts in runs.items()
            },
            steps=[f"read {', '.join(sorted(texts))}", "values as float32, features left out are 0, NULL is nan"],
            skipped=self._skipped.count,
            skipped_lines=self._skipped.sentences,
        )
        used = np.any([np.pad(text.used, (0, width))[:width] for text in stored[:distinct]], axis=0)
        write_prepared(folder, manifest, columns, int(used.sum()), self.published)


@dataclass
class _Text:
    """Content of one file: its features in a file of rows, block after block, everything else in memory."""

    name: str
    rows: Path
    shapes: list[tuple[int, int]]
    columns: dict[str, NDArray[Any]]
    used: NDArray[np.bool_]
    sha256: str
    size: int

    def copy_rows(self, target: IO[bytes], width: int) -> None:
        """Append the features to a file, with zeros for columns that a block lacks."""
        with self.rows.open("rb") as file:
            for shape in self.shapes:
                block = np.fromfile(file, np.float32, shape[0] * shape[1]).reshape(shape)
                target.write(np.pad(block, ((0, 0), (0, width - shape[1]))).data)


def _read_text(member: Member, rows: Path, columns: Columns, on_error: OnError, skipped: SkippedLines) -> _Text:
    """Read a file of an archive, and write its features to the file ``rows``."""
    sha256, size = hashlib.sha256(), 0
    bar = tqdm(desc=member.name, total=member.size, unit="B", unit_scale=True, leave=False, disable=None)

    def watched() -> Iterator[Block]:
        nonlocal size
        for block in member.blocks():
            sha256.update(block.data)
            size += block.size
            bar.update(block.size)
            yield block

    blocks, shapes, used = [], [], np.zeros(0, np.bool_)
    with rows.open("wb") as file, bar:
        for documents in documents_of(watched(), member.label, columns, on_error, skipped):
            features: Any = documents.features
            file.write(np.ascontiguousarray(features).data)
            shapes.append(features.shape)
            used = np.pad(used, (0, max(features.shape[1] - used.size, 0)))
            unused = np.flatnonzero(~used[: features.shape[1]])
            used[unused] = (features[:, unused] != 0).any(axis=0)
            documents.features = features[:0, :0].copy()
            blocks.append(documents)
    labels, queries, names = join_columns(blocks, member.label)
    heads = np.flatnonzero(np.diff(queries, prepend=queries[0] - 1))
    lengths = np.diff(np.append(heads, queries.size))
    others = {"labels": labels, "lengths": lengths, "query_ids": queries[heads], "document_ids": names}
    return _Text(member.name, rows, shapes, others, used, sha256.hexdigest(), size)


def _share(number: int) -> Place:
    """Return the file that is part S1, S2, ... of the rotation; numbers wrap around."""
    return Place(number % ROTATING + 1, "test")


def _may_rotate(sizes: Mapping[Place, int | None]) -> bool:
    """Return whether all five test files are there, and no size contradicts the rotation."""
    if any(_share(number) not in sizes for number in range(1, ROTATING + 1)):
        return False

    def agrees(place: Place, numbers: Sequence[int]) -> bool:
        size, parts = sizes.get(place), [sizes[_share(number)] for number in numbers]
        return size is None or None in parts or abs(size - sum(part or 0 for part in parts)) <= SIZE_SLACK

    return all(
        agrees(Place(fold, "train"), (fold, fold + 1, fold + 2)) and agrees(Place(fold, "valid"), (fold + 3,))
        for fold in range(1, ROTATING + 1)
    )
