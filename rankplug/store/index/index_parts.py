"""Parts of an index of results: two files each, one of rows and one of descriptions, and what is read from them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankplug.store.result_files import (
    COLUMNS,
    DAMAGES,
    checked_format,
    read_arrow,
    read_checked,
    require_file,
    row_schema,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

ROWS, DESCRIPTIONS = ".rows", ".descriptions"
OWN = ("fold", "trial", "seed", "record")
"""Fields of a description about its trial alone; the rest it shares with others of its combination."""

State = tuple[int, int, int]
NO_STATE = (0, 0, 0)


@dataclass
class Part:
    """Descriptions of some results and the place of their rows.

    Args:
        name: of its two files.
        files: of the results, in the store.
        states: size, time and inode of each when it was read.
        shared: what the descriptions say of combinations, as JSON.
        own: what they say of trials.
        rows: of all of them, with the column ``entry``; read when they are asked for.
    """

    name: str
    files: list[str]
    states: list[State]
    shared: list[str]
    own: list[str]
    rows: Any


@dataclass
class IndexedResults:
    """Results of a store as questions need them.

    Args:
        paths: of the results.
        descriptions: of each.
        places: for each the number of the source of its rows and the entry there.
        sources: Arrow datasets of rows with the column ``entry``.
        forget: deletes the part of the index that a source is, and tells whether it is gone.
    """

    paths: list[Path]
    descriptions: list[dict[str, Any]]
    places: list[tuple[int, int]]
    sources: list[Any]
    forget: Callable[[int], bool] = lambda number: False

    def mend(self) -> bool:
        """Delete the parts of the index that cannot be read, and tell whether there were such.

        Raises:
            StoreError: a result cannot be read.
        """
        for path in self.paths:
            read_arrow(path)
        found = []
        for number, source in enumerate(self.sources):
            try:
                for _ in source.to_batches():
                    pass
            except DAMAGES:
                found.append(self.forget(number))
        return any(found)

    def rows(self) -> tuple[pa.Table, NDArray[np.int64]]:
        """Read the rows of all results, in their order, and the position of the result that each is of."""
        import pyarrow as pa
        from pyarrow import dataset

        tables, positions = [], []
        for number, source in enumerate(self.sources):
            wanted = np.array([(entry, index) for index, (owner, entry) in enumerate(self.places) if owner == number])
            if not wanted.size:
                continue
            try:
                table = source.to_table(filter=dataset.field("entry").isin(pa.array(wanted[:, 0], pa.int32())))
            except DAMAGES:
                # A file that is damaged is told by its name; where none is, the index is, which nobody needs.
                own = [numbered(read_arrow(self.paths[index]), entry) for entry, index in enumerate(wanted[:, 1])]
                self.forget(number)
                table, wanted[:, 0] = pa.concat_tables(own), np.arange(len(wanted))
            position = np.empty(int(wanted[:, 0].max()) + 1, np.int64)
            position[wanted[:, 0]] = wanted[:, 1]
            tables.append(table.select(list(COLUMNS)))
            positions.append(position[table["entry"].to_numpy()])
        joined, position = pa.concat_tables(tables), np.concatenate(positions)
        if (np.diff(position) < 0).any():
            order = np.argsort(position, kind="stable")
            joined, position = joined.take(pa.array(order)), position[order]
        return joined.replace_schema_metadata(None), position


def state_of(path: Path) -> State | None:
    """Return what tells a file from one that took its place; None where it cannot be seen or is a link."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns, found.st_ino) if os.path.isfile(path) and not path.is_symlink() else None


def texts_of(about: Mapping[str, Any]) -> tuple[str, str]:
    """Return as JSON what a description shares with others of its combination, and what is about its trial alone."""
    shared = {name: value for name, value in about.items() if name not in OWN}
    return json.dumps(shared, sort_keys=True), json.dumps({name: about[name] for name in OWN})


def numbered(table: pa.Table, entry: int) -> pa.Table:
    """Return the rows of a result with the number of its entry in front."""
    import pyarrow as pa

    numbers = pa.repeat(pa.scalar(entry, pa.int32()), len(table))
    return table.replace_schema_metadata(None).add_column(0, "entry", numbers)


def read_part(path: Path) -> Part:
    """Read a part; its rows stay readable when another process replaces it."""
    import pyarrow as pa
    from pyarrow import dataset

    require_file(path)
    table = read_checked(pa.BufferReader(path.read_bytes()))
    columns = {name: table[name].to_pylist() for name in ("file", "size", "time", "inode", "own")}
    with pa.memory_map(str(path.with_suffix(ROWS))) as file:
        content = file.read_buffer()
    schema = pa.schema([("entry", pa.int32()), *row_schema()])
    kind = checked_format()
    fragment = kind.make_fragment(pa.BufferReader(content))
    if not fragment.physical_schema.equals(schema):
        raise ValueError("its columns have other types")
    shared = table["shared"].combine_chunks()
    words = shared.dictionary.to_pylist()
    return Part(
        path.stem,
        columns["file"],
        list(zip(columns["size"], columns["time"], columns["inode"], strict=True)),
        [words[place] for place in shared.indices.to_pylist()],
        columns["own"],
        dataset.FileSystemDataset([fragment], schema, kind),
    )


assert "entry" not in COLUMNS
