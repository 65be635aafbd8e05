"""Index of a store: the descriptions and rows of many results in one file, so that questions need not open thousands.

The index is a cache that may be deleted at any time. It is one Parquet file, replaced as a whole: rows with the number
of their entry, and the entries, compressed JSON, in the metadata of the schema. An entry counts only while its result's
file has the size, time and inode that it had when it was read; every other result is read from its own file.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import stat
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.store._files import COLUMNS, DAMAGES, checked_format, read_about, row_schema, rows_of
from rankplug.system import whole_file

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

INDEX = ".index"
FILE = "results.index"
ENTRIES = b"entries"
WORTH_INDEXING = 200
"""Results missing from the index above which it is written again; fewer are read in less than half a second."""
ROWS_OF_BATCH, BATCHES_OF_GROUP = 500, 1_000
OWN = ("fold", "trial", "seed", "record")
"""Fields of a description about its trial alone; the rest it shares with others of its combination."""
State = tuple[int, int, int]


@dataclass
class FoundResults:
    """Results of a store.

    Args:
        paths: files of the results.
        descriptions: description of each result.
        entries: number of each result in the column ``entry`` of the rows.
        sources: Arrow datasets of rows.
        unindexed: number of results that are not in the index.
    """

    paths: list[Path]
    descriptions: list[dict[str, Any]]
    entries: list[int]
    sources: list[Any]
    unindexed: int

    def rows(self) -> tuple[pa.Table, NDArray[np.int64]]:
        """Read the rows of all results in their order, and for each row the position of its result."""
        import pyarrow as pa
        from pyarrow import dataset

        wanted = dataset.field("entry").isin(pa.array(self.entries, pa.int32()))
        table = pa.concat_tables([source.to_table([*COLUMNS, "entry"], filter=wanted) for source in self.sources])
        position = self.positions()[table["entry"].to_numpy()]
        if (np.diff(position) < 0).any():
            order = np.argsort(position, kind="stable")
            table, position = table.take(pa.array(order)), position[order]
        return table.select(list(COLUMNS)).replace_schema_metadata(None), position

    def positions(self) -> NDArray[np.int64]:
        """Return the position of the result of each entry, -1 for entries of other results."""
        positions = np.full(max(self.entries, default=-1) + 1, -1)
        positions[self.entries] = np.arange(len(self.entries))
        return positions


@dataclass
class _Index:
    """Content of the index.

    Args:
        entries: entry of each result by the file and its state.
        descriptions: description of each entry.
        rows: Arrow dataset of the rows.
    """

    entries: dict[tuple[str, tuple[int, ...]], int] = field(default_factory=dict)
    descriptions: list[dict[str, Any]] = field(default_factory=list)
    rows: Any = None


def find_results(folder: Path, paths: Sequence[Path]) -> FoundResults:
    """Return descriptions and rows of some results of the store in a folder, and update its index if that is worth it.

    Raises:
        StoreError: a result cannot be read.
    """
    results = _find(paths, _read(folder) if len(paths) >= WORTH_INDEXING else _Index())
    if results.unindexed >= WORTH_INDEXING:
        # Where the index cannot be written, the results are read from their files.
        with contextlib.suppress(*DAMAGES):
            write_index(folder, paths)
            return _find(paths, _read(folder))
    return results


def _find(paths: Sequence[Path], index: _Index) -> FoundResults:
    indexed = [index.entries.get((_name(path), _state(path) or ())) for path in paths]
    others = [path for path, entry in zip(paths, indexed, strict=True) if entry is None]
    first = len(index.descriptions)
    numbers = itertools.count(first)
    entries = [next(numbers) if entry is None else entry for entry in indexed]
    descriptions = [*index.descriptions, *map(read_about, others)]
    sources = [index.rows] if len(others) < len(paths) else []
    sources += [rows_of(others, first)] if others else []
    return FoundResults(list(paths), [descriptions[entry] for entry in entries], entries, sources, len(others))


def write_index(folder: Path, paths: Iterable[Path]) -> None:
    """Write an index of some results, and of all that it holds already and that have not changed."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    index = _read(folder)
    unchanged = [folder / name for name, state in index.entries if _state(folder / name) == state]
    states = {path: state for path in [*unchanged, *paths] if (state := _state(path)) is not None}
    results = _find(list(states), index)
    positions = results.positions()
    target = folder / INDEX / FILE
    target.parent.mkdir(exist_ok=True)
    schema = pa.schema([("entry", pa.int32()), *row_schema()])
    with (
        whole_file(target) as file,
        parquet.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        sources = (source.to_batches(schema.names, batch_size=ROWS_OF_BATCH) for source in results.sources)
        batches = itertools.chain.from_iterable(sources)
        while group := list(itertools.islice(batches, BATCHES_OF_GROUP)):
            table = pa.Table.from_batches(group)
            position = positions[table["entry"].to_numpy()]
            table = table.set_column(0, "entry", pa.array(position, pa.int32()))
            writer.write_table(table.filter(pa.array(position >= 0)))
        writer.add_key_value_metadata({ENTRIES: _packed(states, results.descriptions)})


def delete_index(folder: Path) -> bool:
    """Delete the index, and return whether there was one."""
    with contextlib.suppress(OSError):
        (folder / INDEX / FILE).unlink()
        return True
    return False


def _packed(states: Mapping[Path, State], descriptions: Iterable[dict[str, Any]]) -> bytes:
    shared: dict[str, int] = {}
    lines = []
    for (path, state), about in zip(states.items(), descriptions, strict=True):
        common = json.dumps({key: value for key, value in about.items() if key not in OWN}, sort_keys=True)
        own = {key: about[key] for key in OWN}
        lines.append((_name(path), state, shared.setdefault(common, len(shared)), own))
    return zlib.compress(json.dumps([list(map(json.loads, shared)), lines]).encode(), 1)


def _read(folder: Path) -> _Index:
    """Read the index; one that cannot be read counts as none."""
    import pyarrow as pa
    from pyarrow import dataset

    with contextlib.suppress(*DAMAGES, zlib.error):
        # Its rows stay readable when another process replaces it.
        with pa.memory_map(str(folder / INDEX / FILE)) as file:
            content = file.read_buffer()
        fragment = checked_format().make_fragment(pa.BufferReader(content))
        shared, lines = json.loads(zlib.decompress(fragment.metadata.metadata[ENTRIES]))
        schema = pa.schema([("entry", pa.int32()), *row_schema()])
        if fragment.physical_schema.equals(schema):
            entries = {(name, tuple(state)): entry for entry, (name, state, _, _) in enumerate(lines)}
            descriptions = [{**shared[number], **own} for _, _, number, own in lines]
            return _Index(entries, descriptions, dataset.FileSystemDataset([fragment], schema, checked_format()))
    return _Index()


def _state(path: Path) -> State | None:
    """Return what tells a file from one that replaced it; None where there is none, or a link."""
    with contextlib.suppress(OSError):
        status = os.lstat(path)
        if stat.S_ISREG(status.st_mode):
            return status.st_size, status.st_mtime_ns, status.st_ino
    return None


def _name(path: Path) -> str:
    """Return the path of a result in its store, which is a file in the folder of its combination."""
    return f"{path.parent.name}/{path.name}"
