"""Index of a store: the descriptions and rows of many results in one file, so that questions need not open thousands.

The index is a cache that may be deleted at any time. It is one Parquet file, replaced as a whole: rows with the number
of their entry, and the entries, compressed JSON, in the metadata of the schema. An entry counts only while its result's
file has the size, time and inode that it had when it was read; every other result is read from its own file.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.store._files import (
    COLUMNS,
    DAMAGES,
    checked_format,
    read_about,
    read_table,
    require_file,
    row_schema,
    rows_of,
)
from rankplug.system import whole_file

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

INDEX = ".index"
FILE = "results.index"
ENTRIES = b"entries"
WORTH_INDEXING = 200
"""Results missing from the index above which it is written again; fewer are read in less than half a second."""
OWN = ("fold", "trial", "seed", "record")
"""Fields of a description about its trial alone; the rest it shares with others of its combination."""
State = tuple[int, int, int]


@dataclass
class FoundResults:
    """Results of a store as questions need them.

    Args:
        paths: files of the results.
        descriptions: description of each result.
        places: for each result the number of the source of its rows, and its entry there.
        sources: Arrow datasets of rows with the column ``entry``.
    """

    paths: list[Path]
    descriptions: list[dict[str, Any]]
    places: list[tuple[int, int]]
    sources: list[Any]

    def rows(self) -> tuple[pa.Table, NDArray[np.int64]]:
        """Read the rows of all results in their order, and for each row the position of its result."""
        import pyarrow as pa
        from pyarrow import dataset

        tables, positions = [], []
        for number, source in enumerate(self.sources):
            wanted = np.array([(entry, index) for index, (owner, entry) in enumerate(self.places) if owner == number])
            if not wanted.size:
                continue
            table = source.to_table(filter=dataset.field("entry").isin(pa.array(wanted[:, 0], pa.int32())))
            position = np.empty(int(wanted[:, 0].max()) + 1, np.int64)
            position[wanted[:, 0]] = wanted[:, 1]
            tables.append(table.select(list(COLUMNS)))
            positions.append(position[table["entry"].to_numpy()])
        joined, position = pa.concat_tables(tables), np.concatenate(positions)
        if (np.diff(position) < 0).any():
            order = np.argsort(position, kind="stable")
            joined, position = joined.take(pa.array(order)), position[order]
        return joined.replace_schema_metadata(None), position


@dataclass
class _Entries:
    """Content of the index.

    Args:
        numbers: entry of each result by its file and the file's state.
        descriptions: description of each entry.
        rows: Arrow dataset of the rows.
    """

    numbers: dict[tuple[str, State], int] = field(default_factory=dict)
    descriptions: list[dict[str, Any]] = field(default_factory=list)
    rows: Any = None


def find_results(folder: Path, paths: Sequence[Path]) -> FoundResults:
    """Return descriptions and rows of some results of the store in a folder, and update its index if that is worth it.

    Raises:
        StoreError: a result cannot be read.
    """
    states = [_state(path) for path in paths]
    index = _read(folder) if len(paths) >= WORTH_INDEXING else _Entries()
    known = _known(index, paths, states)
    if len(paths) - len(known) >= WORTH_INDEXING:
        # Where the index cannot be written, the results are read from their files.
        with contextlib.suppress(OSError):
            index = write_index(folder, paths)
            known = _known(index, paths, states)
    loose = [position for position in range(len(paths)) if position not in known]
    place_of = {position: (0, entry) for position, entry in known.items()}
    place_of |= {position: (int(bool(known)), entry) for entry, position in enumerate(loose)}
    return FoundResults(
        list(paths),
        [
            index.descriptions[known[position]] if position in known else read_about(path)
            for position, path in enumerate(paths)
        ],
        [place_of[position] for position in range(len(paths))],
        ([index.rows] if known else []) + ([rows_of([paths[position] for position in loose])] if loose else []),
    )


def write_index(folder: Path, paths: Sequence[Path]) -> _Entries:
    """Write an index of some results, and of all that it holds already and that have not changed."""
    import pyarrow as pa
    import pyarrow.compute as compute
    import pyarrow.parquet as parquet

    index = _read(folder)
    current = {
        number: (name, state) for (name, state), number in index.numbers.items() if _state(folder / name) == state
    }
    entries: list[tuple[str, State, dict[str, Any]]] = [
        (name, state, index.descriptions[number]) for number, (name, state) in current.items()
    ]
    known = set(current.values())
    target = folder / INDEX / FILE
    target.parent.mkdir(exist_ok=True)
    schema = pa.schema([("entry", pa.int32()), *row_schema()])
    with (
        whole_file(target) as file,
        parquet.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        renamed = np.full(len(index.descriptions), -1, np.int32)
        renamed[list(current)] = np.arange(len(current))
        for batch in index.rows.to_batches() if current else ():
            table = pa.Table.from_batches([batch])
            table = table.set_column(0, "entry", pa.array(renamed[table["entry"].to_numpy()]))
            writer.write_table(table.filter(compute.greater_equal(table["entry"], 0)))
        tables = []
        for path in paths:
            name, state = _name(path), _state(path)
            if state is None or (name, state) in known:
                continue
            about, table = read_table(path)
            numbers = pa.repeat(pa.scalar(len(entries), pa.int32()), len(table))
            tables.append(table.replace_schema_metadata(None).add_column(0, "entry", numbers))
            entries.append((name, state, about))
            if len(tables) == 2000:
                writer.write_table(pa.concat_tables(tables))
                tables = []
        if tables:
            writer.write_table(pa.concat_tables(tables))
        writer.add_key_value_metadata({ENTRIES: _packed(entries)})
    return _read(folder)


def delete_index(folder: Path) -> bool:
    """Delete the index, and return whether there was one."""
    with contextlib.suppress(OSError):
        (folder / INDEX / FILE).unlink()
        return True
    return False


def _packed(entries: Sequence[tuple[str, State, dict[str, Any]]]) -> bytes:
    shared: dict[str, int] = {}
    lines = []
    for name, state, about in entries:
        common = json.dumps({key: value for key, value in about.items() if key not in OWN}, sort_keys=True)
        own = {key: about[key] for key in OWN}
        lines.append((name, state, shared.setdefault(common, len(shared)), own))
    return zlib.compress(json.dumps([list(map(json.loads, shared)), lines]).encode(), 1)


def _read(folder: Path) -> _Entries:
    """Read the index; one that cannot be read counts as none."""
    import pyarrow as pa
    from pyarrow import dataset

    path = folder / INDEX / FILE
    require_file(path)
    with contextlib.suppress(*DAMAGES, zlib.error):
        # Its rows stay readable when another process replaces it.
        with pa.memory_map(str(path)) as file:
            content = file.read_buffer()
        fragment = checked_format().make_fragment(pa.BufferReader(content))
        schema = fragment.physical_schema
        shared, lines = json.loads(zlib.decompress(fragment.metadata.metadata[ENTRIES]))
        plain = pa.schema([("entry", pa.int32()), *row_schema()])
        if schema.equals(plain):
            rows = dataset.FileSystemDataset([fragment], plain, checked_format())
            numbers = {(name, tuple(state)): entry for entry, (name, state, _, _) in enumerate(lines)}
            return _Entries(numbers, [{**shared[number], **own} for _, _, number, own in lines], rows)
    return _Entries()


def _known(index: _Entries, paths: Sequence[Path], states: Sequence[State | None]) -> dict[int, int]:
    """Return the entry of each result that has not changed, by its position."""
    found = {}
    for position, (path, state) in enumerate(zip(paths, states, strict=True)):
        if state is not None and index.numbers:
            entry = index.numbers.get((_name(path), state))
            if entry is not None:
                found[position] = entry
    return found


def _state(path: Path) -> State | None:
    """Return what tells a file from one that replaced it; None where there is none, or a link."""
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        if stat.S_ISREG(found.st_mode):
            return found.st_size, found.st_mtime_ns, found.st_ino
    return None


def _name(path: Path) -> str:
    """Return the path of a result in its store, which is a file in the folder of its combination."""
    return f"{path.parent.name}/{path.name}"
