"""Conversion of an official archive or folder to prepared arrays, in one pass over the text and in bounded memory."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from filelock import FileLock

import rankplug
from rankplug.errors import DataError
from rankplug.system import threads, whole_folder
from rankplug_data.preparation.layout import Layout, Place, stem_of
from rankplug_data.preparation.rotation import Arrangement, may_rotate, rotating, side_by_side
from rankplug_data.preparation.statistics import Statistics, count
from rankplug_data.preparation.storing import (
    Manifest,
    PreparedData,
    join_rows,
    lock_of,
    write_array,
    write_manifest,
)
from rankplug_data.preparation.texts import Text, read_text
from rankplug_data.public.benchmark import PARTS
from rankplug_data.text.archives import Member, members
from rankplug_data.text.letor import Columns, OnError, SkippedLines

Texts = dict[Place, Text]
Finder = Callable[[], Iterator[tuple[Place | None, Member]]]
"""Gives each file of a source with what it holds, None for one that does not matter."""
Judge = Callable[[Statistics, dict[str, tuple[int, int]]], list[str]]
"""Function from statistics of the whole set, and queries and documents of each part, to deviations from the published.
"""


class NotAsReleasedError(DataError):
    """A source in which the files that should be there are not."""


@dataclass(kw_only=True)
class Preparation(abc.ABC):
    """Order to prepare data, whatever their format.

    Args:
        source: the archive, folder or file, for messages and the record.
        check_unchanged: raises where the source is no longer what the prepared folder is named by.
    """

    source: Path
    check_unchanged: Callable[[], None] = lambda: None

    @abc.abstractmethod
    def write(self, folder: Path) -> None:
        """Write arrays and manifest into an empty folder."""


@dataclass(kw_only=True)
class Request(Preparation):
    """Order to prepare a data set from LETOR texts.

    Args:
        name: the data set.
        version: its version, empty where there is one.
        files: finds the files.
        folds: how many folds there may be.
        columns: numbers of the features.
        parts: the parts that a fold must have.
        on_error: what to make of broken lines.
        judge: compares the numbers with what is published.
        expected: what the source should hold, for messages.
    """

    name: str
    version: str
    files: Finder
    folds: int
    columns: Columns
    parts: Sequence[str] = PARTS
    on_error: OnError = "raise"
    judge: Judge = field(default=lambda statistics, parts: [])
    expected: str = ""

    def write(self, folder: Path) -> None:
        """Read all texts, and write what is in them."""
        _write(self, folder)


def files_of(source: Path, layout: Layout) -> Finder:
    """Return a function that finds the files of a release in an archive or folder."""

    def find() -> Iterator[tuple[Place | None, Member]]:
        archive = stem_of(source.name)
        for member in members(source):
            yield layout.place_of(member.name, archive), member

    return find


def prepare(request: Preparation, folder: Path, outdated: Callable[[PreparedData], bool]) -> PreparedData:
    """Return the prepared data in ``folder``, made if need be; two processes that ask at once make them once.

    Args:
        request: what to prepare.
        folder: where it goes.
        outdated: whether prepared data that are already there must be made anew.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock_of(folder)):
            ready = PreparedData.open(folder)
            if ready is not None and not outdated(ready):
                return ready
            with whole_folder(folder, replace=True) as unfinished:
                request.write(unfinished)
                request.check_unchanged()
            made = PreparedData.open(folder)
    except OSError as error:
        raise DataError(
            f"cannot prepare {request.source} in {folder}: {error.strerror or error}; free space or allow writing"
            " there, or name another folder with RANKPLUG_CACHE"
        ) from error
    if made is None:
        raise DataError(f"{folder} vanished while it was prepared; run it again")
    return made


def _write(request: Request, folder: Path) -> None:
    skipped = SkippedLines()
    texts, arrangement = _read(request, folder, skipped)
    stored = [texts[index] for index in arrangement.order]
    join_rows(folder / "features.npy", [(text.rows, text.shape) for text in stored])
    write_array(folder, "labels", np.concatenate([text.labels for text in stored]))
    write_array(folder, "starts", np.concatenate([[0], np.cumsum(np.concatenate([text.lengths for text in stored]))]))
    write_array(folder, "query_ids", np.concatenate([text.query_ids for text in stored]))
    names = [text.document_ids for text in stored if text.document_ids is not None]
    if len(names) == len(stored):
        write_array(folder, "document_ids", np.concatenate(names))
    ends = np.cumsum([0, *(text.lengths.size for text in stored)]).tolist()
    manifest = Manifest(
        name=request.name,
        version=request.version,
        source=str(request.source.resolve()),
        texts={text.name: {"sha256": text.sha256, "bytes": text.size} for text in texts.values()},
        folds={
            str(fold): {part: (ends[first], ends[last]) for part, (first, last) in parts.items()}
            for fold, parts in arrangement.folds.items()
        },
        steps=[
            f"read {', '.join(sorted(text.name for text in texts.values()))}",
            "values rounded to float32, features left out are 0, NULL is nan",
        ],
        skipped={"lines": skipped.count, "first": skipped.sentences},
        made_with=rankplug.__version__,
    )
    texts_of_all = stored[: arrangement.whole]
    width = max(text.used.size for text in texts_of_all)
    used = np.any([np.pad(text.used, (0, width - text.used.size)) for text in texts_of_all], axis=0)
    complete(PreparedData(folder, manifest), int(used.sum()), request.judge)
    write_manifest(folder, manifest)


def complete(prepared: PreparedData, used_features: int, judge: Judge = lambda statistics, parts: []) -> None:
    """Complete the manifest with what only the stored data tell."""
    manifest = prepared.manifest
    fold = min(prepared.folds)
    parts = prepared.parts(fold)
    statistics = count(parts.values(), used_features)
    manifest.statistics = statistics.as_json()
    manifest.warnings = judge(statistics, {name: (len(part), part.documents) for name, part in parts.items()})
    with ThreadPoolExecutor(threads()) as pool:
        for number in prepared.folds:
            parts = prepared.parts(number)
            digests = pool.map(lambda part: part.fingerprint, parts.values())
            manifest.fingerprints[str(number)] = dict(zip(parts, digests, strict=True))


def _read(request: Request, folder: Path, skipped: SkippedLines) -> tuple[Texts, Arrangement]:
    """Read the needed texts, and return them with the arrangement in which to store them."""
    members: dict[Place, int | None] = {}
    names: dict[Place, str] = {}
    texts: Texts = {}
    others: set[str] = set()

    def walk(wanted: Callable[[Place], bool]) -> None:
        for text, member in request.files():
            if text is None:
                others.add(member.name)
                continue
            if names.setdefault(text, member.name) != member.name:
                raise DataError(
                    f"{request.source} holds {names[text]} and {member.name}, and both are {text}; remove one of them"
                )
            members[text] = member.size
            if wanted(text) and text not in texts:
                rows = folder / f"fold{text.fold}-{text.part}.rows"
                texts[text] = read_text(member, rows, request.columns, request.on_error, skipped)

    if request.folds > 1:
        walk(lambda text: text.part == "test")
        if may_rotate(members, request.folds):
            return texts, rotating()
    complete = _complete_folds(members, request.parts)
    walk(lambda text: request.folds == 1 or text.fold in complete)
    complete = _complete_folds(members, request.parts)
    if not complete:
        has = sorted(str(text) for text in members) or sorted(others)[:5] or ["nothing"]
        raise NotAsReleasedError(
            f"{request.source} does not hold {request.name}: expected {request.expected}, found {', '.join(has)}"
        )
    for text in [text for text in texts if text.fold not in complete]:
        texts.pop(text).rows.unlink()
    return texts, side_by_side(complete, [part for part in PARTS if Place(complete[0], part) in texts])


def _complete_folds(found: Iterable[Place], parts: Sequence[str]) -> list[int]:
    places = set(found)
    return sorted({place.fold for place in places if all(Place(place.fold, part) in places for part in parts)})
