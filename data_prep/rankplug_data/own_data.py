"""A user's own files as data sets: LETOR text, and tables with a column of queries.

They are prepared once and then mapped into memory. Prepared data are named by the state of their files and by the
parameters; results are named by the content of the files, so an edited file gives new results.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rankplug.data import Columns as TableColumns
from rankplug.data import (
    FeatureReader,
    Lists,
    Split,
    Table,
    TableLayout,
    check_labels,
    read_rows,
    shard_of,
    table_files,
)
from rankplug.errors import DataError
from rankplug.system import generator, require_modules
from rankplug_data.archives import Member, changed, exists, members
from rankplug_data.catalogue import LETOR_NAMES, PARTS
from rankplug_data.file_specifications import OwnDataParameters, OwnFileParameters, TableParameters
from rankplug_data.letor import Columns, OnError
from rankplug_data.prepared import Manifest, PreparedData, prepare, prepared_folder, write_prepared
from rankplug_data.releases import FOLD, Layout, Place, Release, files_of
from rankplug_data.transforms import divide

SHARES = {"train": 0.6, "valid": 0.2, "test": 0.2}
MOST_FOLDS = 5
NAMES_OF_PARTS = {
    "train": "train", "training": "train", "validation": "valid", "valid": "valid", "vali": "valid", "val": "valid",
    "dev": "valid", "test": "test", "testing": "test",
}  # fmt: skip
PART = re.compile(rf"({'|'.join(NAMES_OF_PARTS)})(?![a-z])")


class _OwnData(ABC):
    """A data set in files of the user's.

    Parts that are missing are sampled at random by query from the training part: 60/20/20 of one file.
    """

    name = ""

    @abstractmethod
    def write(self, parameters: Any, folder: Path) -> None:
        """Write the prepared data into a folder."""

    @abstractmethod
    def skipping(self, parameters: Any) -> dict[str, str]:
        """Return the change of the parameters that leaves out broken lines or rows."""

    def __call__(self, parameters: OwnDataParameters, fold: int, seed: int) -> Split:
        prepared = self._prepare(parameters)
        if prepared.folds == [1] and len(parts := prepared.parts(1)) < len(PARTS):
            return complete_split(parts, fold, seed, self.name)
        if fold not in prepared.folds:
            raise DataError(f"{parameters.path} has fold {', '.join(map(str, prepared.folds))}, not {fold}")
        return prepared.split(fold)

    def state(self, parameters: OwnDataParameters) -> str:
        """Return whether the data are prepared."""
        return "prepared" if PreparedData.open(self._folder(parameters)) else "found"

    def get(self, parameters: OwnDataParameters, *, accept_licence: bool) -> str:
        """Return the path; there is nothing to download."""
        return parameters.path

    def prepare(self, parameters: OwnDataParameters, *, source: Path | None, on_error: OnError) -> str:
        """Prepare the data, and describe them."""
        if source is not None:
            parameters = parameters.model_copy(update={"path": str(source)})
        change = self.skipping(parameters) if on_error == "skip" else {}
        report = self._report(self._prepare(parameters.model_copy(update=change)))
        return "\n".join([report, *(f"load these data with {name}={value}" for name, value in change.items())])

    def info(self, parameters: OwnDataParameters) -> str:
        """Describe the data."""
        prepared = PreparedData.open(self._folder(parameters))
        return f"{parameters.path}: not prepared yet" if prepared is None else self._report(prepared)

    def verify(self, parameters: OwnDataParameters) -> tuple[str, list[str]]:
        """Read all prepared data again; return their description, and what is wrong with them."""
        prepared = self._prepare(parameters)
        return self._report(prepared), prepared.problems()

    def _report(self, prepared: PreparedData) -> str:
        shares = _shares(prepared.manifest.folds[str(prepared.folds[0])])
        if len(shares) == 1:
            return prepared.report()
        percent = "/".join(f"{100 * share:g}" for share in shares.values())
        return prepared.report(
            f"whenever they are loaded, {', '.join(shares)} are sampled from train by query, {percent}"
        )

    def _prepare(self, parameters: OwnDataParameters) -> PreparedData:
        folder = self._folder(parameters)
        prepared = PreparedData.open(folder)
        if prepared is not None:
            return prepared
        source = Path(parameters.path).expanduser()

        def write(unfinished: Path) -> None:
            self.write(parameters, unfinished)
            if self._folder(parameters) != folder:
                raise changed(source)

        return prepare(folder, source, write, lambda ready: True)

    def _folder(self, parameters: OwnDataParameters) -> Path:
        """Return a folder named by the parameters and by the files' paths, sizes and times."""
        digest = hashlib.blake2b(parameters.model_dump_json(exclude={"path", "valid", "test"}).encode(), digest_size=10)
        for part, name in zip(PARTS, parameters.paths, strict=True):
            if name is None:
                continue
            path = Path(name).expanduser().resolve()
            if not exists(path):
                raise DataError(f"there is no file or folder {path}")
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.exists():
                    line = f"{part} {file} {' '.join(map(str, _state(file)))}\n"
                    digest.update(line.encode("utf-8", "surrogateescape"))
        return prepared_folder() / f"{self.name}-{digest.hexdigest()}"


class OwnFiles(_OwnData):
    """The data set ``letor-file``: one text, three texts, or a folder or archive like an official release."""

    name = "letor-file"

    def skipping(self, parameters: OwnFileParameters) -> dict[str, str]:
        return {"on_error": "skip"}

    def write(self, parameters: OwnFileParameters, folder: Path) -> None:
        path = Path(parameters.path).expanduser()
        inside = [] if path.is_dir() else [member for member, _ in zip(members(path), range(2), strict=False)]
        one_text = len(inside) == 1 and inside[0].label == str(path)
        layout = Layout(1 if one_text else _folds(path, parameters), LETOR_NAMES)
        names = ", ".join(" or ".join(names) for names in LETOR_NAMES.values())
        Release(
            name=path.name,
            source=path,
            files=lambda: _texts(parameters) if one_text else files_of(path, layout),
            columns=Columns(parameters.first_feature, parameters.features),
            parts=("train",) if one_text else PARTS,
            on_error=parameters.on_error,
            expected=f"{names}, in Fold1 to Fold5 or without folders",
        ).write(folder)


def _texts(parameters: OwnFileParameters) -> Iterator[tuple[Place | None, Member]]:
    for part, path in zip(PARTS, parameters.paths, strict=True):
        if path is not None:
            for member in members(Path(path).expanduser()):
                yield Place(1, part), member


def _folds(path: Path, parameters: OwnDataParameters) -> int:
    """Return the number of folds that a folder or archive may have; raise where some would be ignored."""
    if parameters.valid is not None or parameters.test is not None:
        raise DataError(
            f"{path} has parts of its own, so that valid= and test= would be ignored; name three texts, or the folder"
            " alone"
        )
    folders = (folder for member in members(path) for folder in member.name.split("/")[:-1])
    folds = {int(match[1]) for folder in folders if (match := FOLD.fullmatch(folder))}
    if not folds:
        return 1
    if min(folds) < 1 or max(folds) > MOST_FOLDS:
        raise DataError(
            f"{path} has folds {min(folds)} to {max(folds)}, and folds 1 to {MOST_FOLDS} are read; rename them, or name"
            " the folder of one fold"
        )
    return MOST_FOLDS


class OwnTables(_OwnData):
    """The data sets ``table`` and ``parquet``: files of tables, or a folder of them, with a column of queries.

    Tables but those of text are read some rows at a time, so they may be larger than memory.
    """

    name = "table"

    def skipping(self, parameters: TableParameters) -> dict[str, str]:
        return {"missing_labels": "skip"} if parameters.missing_labels == "raise" else {}

    def write(self, parameters: TableParameters, folder: Path) -> None:
        require_modules("pyarrow")
        _write_tables(parameters, _files_of_parts(parameters), folder)


def _write_tables(parameters: TableParameters, parts: dict[str, list[Path]], folder: Path) -> None:
    source = Path(parameters.path).expanduser()
    columns = TableColumns(
        parameters.query,
        parameters.label,
        parameters.document,
        parameters.features,
        parameters.categorical,
        parameters.missing_labels,
    )
    tables = {
        part: Table(str(files[0] if len(files) == 1 else source), [shard_of(file) for file in files])
        for part, files in parts.items()
    }
    layout = TableLayout.of(tables["train"], columns)
    rows = {part: read_rows(table, layout.roles) for part, table in tables.items()}
    for part, part_rows in rows.items():
        check_labels(part_rows.labels, f" in {tables[part].name}")
    readers = {part: FeatureReader(table, layout.features, layout.categories) for part, table in tables.items()}
    width = readers["train"].width
    for part, table in tables.items():
        if readers[part].width != width:
            raise DataError(f"{table.name} has {readers[part].width} features, train {width}")
    bounds = np.cumsum([0, *(part_rows.labels.size for part_rows in rows.values())]).tolist()
    path = folder / "features.npy"
    features = np.lib.format.open_memmap(path, "w+", np.float32, (bounds[-1], width))
    if hasattr(os, "posix_fallocate"):
        # On a disk that is full only later, writing to a mapped file ends the process.
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    for part, first, last in zip(rows, bounds[:-1], bounds[1:], strict=True):
        readers[part].fill(rows[part], features[first:last])
    del features
    every = list(rows.values())
    ends = np.cumsum([0, *(part_rows.query_ids.size for part_rows in every)]).tolist()
    files = [file for files in parts.values() for file in files]
    remarks = [f"{part}: {note}" for part, part_rows in rows.items() for note in part_rows.notes]
    names = list(readers["train"].feature_names)
    manifest = Manifest(
        name=source.name,
        source=str(source.resolve()),
        texts={str(file): {"bytes": file.stat().st_size} for file in files},
        folds={"1": {part: (ends[index], ends[index + 1]) for index, part in enumerate(rows)}},
        steps=[f"read {', '.join(map(str, files))}", "values rounded to float32, missing ones are nan", *remarks],
        warnings=remarks,
        feature_names=names,
        categorical=[names.index(name) for name in parameters.categorical],
        categories={name: list(levels) for name, levels in layout.categories.items()},
        columns=layout.describe(),
    )
    documents = [part_rows.document_ids for part_rows in every if part_rows.document_ids is not None]
    written = {
        "labels": np.concatenate([part_rows.labels for part_rows in every]),
        "lengths": np.concatenate([np.diff(part_rows.starts) for part_rows in every]),
        "query_ids": np.concatenate([part_rows.query_ids for part_rows in every]),
        "document_ids": np.concatenate(documents) if documents else None,
    }
    used = np.any([reader.used for reader in readers.values()], axis=0)
    write_prepared(folder, manifest, written, int(used.sum()))


def _files_of_parts(parameters: TableParameters) -> dict[str, list[Path]]:
    """Return the files of each part; those of a folder by their names or folders, if these name parts."""
    root = Path(parameters.path).expanduser()
    files = table_files(root)
    if not files:
        raise DataError(f"{root} holds no table: no CSV, TSV, JSON lines, Parquet, Arrow or Feather file")
    parts = {"train": files}
    if root.is_dir():
        inside = [file.relative_to(root) for file in files]
        if folder := next((folder for file in inside for folder in file.parts[:-1] if FOLD.fullmatch(folder)), None):
            raise DataError(f"{root} has folds, such as {folder}, which are not read from tables; name one of them")
        named = {file: _part_of(name) for file, name in zip(files, inside, strict=True)}
        if any(named.values()):
            unnamed = [name for name, part in zip(inside, named.values(), strict=True) if not part]
            if unnamed or "train" not in named.values():
                raise DataError(
                    f"{root} holds files of parts, and {unnamed[0]}, whose name is that of no part; remove or rename it"
                    if unnamed
                    else f"{root} holds files of parts, and none is named train; name the files one by one"
                )
            parts = {part: [file for file in files if named[file] == part] for part in PARTS if part in named.values()}
    for part, path in (("valid", parameters.valid), ("test", parameters.test)):
        if path is not None:
            if part in parts:
                raise DataError(f"{root} has a {part} part of its own, so that {part}= would be ignored; name one")
            parts[part] = table_files(Path(path).expanduser())
    return {part: parts[part] for part in PARTS if part in parts}


def _part_of(path: Path) -> str:
    """Return the part that a path names; empty if it names none.

    >>> _part_of(Path("data/validation-00000-of-00001.parquet")), _part_of(Path("train/part-0.arrow"))
    ('valid', 'train')
    """
    parts = {NAMES_OF_PARTS[match[1]] for word in path.parts if (match := PART.match(word.lower()))}
    if len(parts) > 1:
        raise DataError(f"{path} names several parts: {', '.join(sorted(parts))}; rename its folders")
    return next(iter(parts), "")


def _shares(parts: Any) -> dict[str, float]:
    """Return the shares of the queries of the training part, for itself and for each part that is missing."""
    shares = {part: share for part, share in SHARES.items() if part == "train" or part not in parts}
    return {part: share / sum(shares.values()) for part, share in shares.items()}


def complete_split(parts: dict[str, Lists], fold: int, seed: int, name: str) -> Split:
    """Return the three parts; those that are missing are sampled from the training part by query."""
    shares = _shares(parts)
    if len(shares) > 1:
        selected = divide(len(parts["train"]), list(shares.values())[:-1], generator(seed, name, fold))
        sampled = {part: parts["train"][queries] for part, queries in zip(shares, selected, strict=True)}
        parts = {**parts, **sampled}
    return Split(*(parts[part] for part in PARTS))


def content_digest(parameters: OwnDataParameters) -> str:
    """Return one digest of all files that the parameters name; empty where one is missing, as loading will report."""
    digest = hashlib.blake2b(digest_size=16)
    for name in filter(None, parameters.paths):
        path = Path(name).expanduser()
        if not exists(path):
            return ""
        files = [file for file in (sorted(path.rglob("*")) if path.is_dir() else [path]) if file.is_file()]
        if not files:
            # An empty folder is where a disk would be mounted.
            return ""
        for file in files:
            digest.update(str(file.relative_to(path)).encode("utf-8", "surrogateescape"))
            digest.update(_file_digest(file, _state(file)))
    return digest.hexdigest()


@functools.lru_cache(maxsize=1024)
def _file_digest(path: Path, state: tuple[int, ...]) -> bytes:
    """Return the digest of a file's content; its state shows whether an earlier digest is still valid."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).digest()


def _state(path: Path) -> tuple[int, int, int]:
    """Return what an edit changes: size, time of writing, and the time of any change, which nobody can set."""
    state = path.stat()
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns


OWN_FILES, OWN_TABLES = OwnFiles(), OwnTables()
