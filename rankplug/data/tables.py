"""Tables that are read column by column and some rows at a time, wherever they lie.

A table is a Parquet, Arrow or Feather file, a folder of such files (as Hugging Face ``datasets`` writes them), or what
another library holds: a data frame of pandas or polars, a table of pyarrow, a relation of DuckDB, a data set of Hugging
Face. Files are read some rows at a time, and never mapped into memory: a mapped file that someone cuts short ends the
process that looks at it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankplug.errors import DataError, did_you_mean, shown
from rankplug.system import require_modules

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 1 << 14
"""Rows that are decoded at once; of more, memory is given back and asked for anew each time."""
BYTES_AT_ONCE = 1 << 20
"""Bytes of each column that are read at once, whatever the size of a file's groups of rows."""
ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
PARQUET = (".parquet", ".pq")
NOT_DATA = (".", "_", "cache-")
"""Beginnings of what other programs keep beside data."""

UNNAMED_INDEX = re.compile(r"__index_level_\d+__|Unnamed: \d+")
"""Columns to which pandas writes an index without a name, in Parquet and in CSV."""


@dataclass(frozen=True)
class Shard:
    """Part of a table.

    Args:
        name: where it lies, for messages.
        schema: names and types of its columns.
        rows: how many.
        batches: gives some of its columns, some rows at a time; may be asked several times.
    """

    name: str
    schema: pa.Schema
    rows: int
    batches: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]


class Table:
    """A table of one shard or more with the same columns.

    Args:
        name: where it lies, in words.
        shards: its parts, in order.
    """

    def __init__(self, name: str, shards: Sequence[Shard]) -> None:
        self.name, self.shards = name, tuple(shards)
        if not self.shards:
            raise DataError(f"{name} holds no table: expected files that end in {', '.join(ENDINGS)}")
        names = self.shards[0].schema.names
        if repeated := {name for name in names if names.count(name) > 1}:
            raise DataError(f"{name} has two columns of the name {min(repeated)}; rename one of them")
        for shard in self.shards[1:]:
            if unlike := set(names) ^ set(shard.schema.names):
                raise DataError(f"{shard.name} and {self.shards[0].name} do not both have the column {min(unlike)}")

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns, those of the first shard."""
        return self.shards[0].schema

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(shard.rows for shard in self.shards)

    @property
    def index_columns(self) -> frozenset[str]:
        """Columns that hold the index of a pandas data frame, which are no features unless the user names them."""
        names = {name for name in self.schema.names if UNNAMED_INDEX.fullmatch(name)}
        for shard in self.shards:
            with contextlib.suppress(KeyError, TypeError, ValueError):
                described = json.loads((shard.schema.metadata or {})[b"pandas"])["index_columns"]
                names.update(name for name in described if isinstance(name, str))
        return frozenset(names)

    def check(self, column: str, what: str) -> None:
        """Raise where there is no such column."""
        named = column if isinstance(column, str) else shown(column)
        if named not in self.schema.names:
            raise DataError(f"{self.name} has no {what} {named}: {did_you_mean(named, self.schema.names)}")

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield some columns, some rows at a time."""
        for shard in self.shards:
            found = 0
            with _readable(shard.name):
                for batch in shard.batches(columns):
                    found += batch.num_rows
                    if found > shard.rows:
                        break
                    yield batch
            if found != shard.rows:
                raise DataError(f"{shard.name} is damaged: it says that it has {shard.rows} rows, and has others")

    def column(self, name: str) -> pa.ChunkedArray:
        """Return one column."""
        import pyarrow as pa

        chunks = [batch.column(0) for batch in self.batches([name])]
        try:
            return pa.chunked_array(chunks, type=None if chunks else self.schema.field(name).type)
        except pa.ArrowException as error:
            raise DataError(f"column {name} has another type in some files of {self.name}: {error}") from None


def open_table(source: Any) -> Table:
    """Return the table behind a path, a data frame, or what else hands out Arrow data."""
    require_modules("pyarrow")
    if isinstance(source, (str, os.PathLike)):
        path = Path(source).expanduser()
        return Table(str(path), [shard_of(file) for file in table_files(path)])
    table = _in_memory(source)
    name = f"a table of {type(source).__module__.partition('.')[0]}"

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return iter(table.select(list(columns)).to_batches(max_chunksize=ROWS_AT_ONCE))

    return Table(name, [Shard(name, table.schema, table.num_rows, batches)])


def table_files(path: Path) -> list[Path]:
    """Return the file of a path, or all files of tables in a folder, in the order of their names."""
    try:
        if path.is_dir():
            inside = (file for file in path.rglob("*") if file.suffix.lower() in ENDINGS and file.is_file())
            return sorted(file for file in inside if not file.name.startswith(NOT_DATA))
        there = path.exists()
    except OSError as error:
        raise DataError(f"{str(path)[:200]} cannot be read: {error.strerror or error}") from error
    if not there:
        raise DataError(f"there is no file or folder {path}")
    if path.suffix.lower() not in ENDINGS:
        raise DataError(f"{path} is no table: expected a file that ends in {', '.join(ENDINGS)}, or a folder of them")
    if not path.is_file():
        raise DataError(f"{path} cannot be read: it is no regular file; save what comes from it, and name that file")
    return [path]


def shard_of(file: Path) -> Shard:
    """Open a file of a table."""
    with _readable(str(file)):
        state = _state(file)
        shard = _parquet(file) if file.suffix.lower() in PARQUET else _arrow(file)

    def check() -> None:
        if _state(file) != state:
            raise DataError(f"{file} changed while it was read; load it again once nothing writes to it")

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in shard.batches(columns):
            check()
            yield batch
        check()

    return replace(shard, batches=batches)


def _state(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_size, found.st_mtime_ns


def _parquet(file: Path) -> Shard:
    import pyarrow.parquet as parquet

    def open_file() -> Any:
        return parquet.ParquetFile(file, buffer_size=BYTES_AT_ONCE)

    with open_file() as opened:
        schema, rows = opened.schema_arrow, opened.metadata.num_rows

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with open_file() as opened:
            for batch in opened.iter_batches(ROWS_AT_ONCE, columns=list(columns)):
                yield batch.select(list(columns))

    return Shard(str(file), schema, rows, batches)


def _arrow(file: Path) -> Shard:
    """Open a file of Arrow, in its format for files or in that for streams, which Hugging Face writes."""
    import pyarrow as pa

    def read(places: Sequence[int] = ()) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        source = pa.OSFile(str(file))
        options = pa.ipc.IpcReadOptions(included_fields=list(places))
        try:
            reader = pa.ipc.open_file(source, options=options)
        except pa.ArrowInvalid:
            source.seek(0)
            stream = pa.ipc.open_stream(source, options=options)
            return stream.schema, iter(stream)
        return reader.schema, (reader.get_batch(place) for place in range(reader.num_record_batches))

    schema, _ = read()
    # One column tells the number of rows.
    rows = sum(batch.num_rows for batch in read([0])[1])

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in read([schema.get_field_index(name) for name in columns])[1]:
            # Arrow takes for granted what such a file says of itself, and would look beyond its end.
            batch.validate(full=True)
            chosen = batch.select(list(columns))
            for begin in range(0, batch.num_rows, ROWS_AT_ONCE):
                yield chosen.slice(begin, ROWS_AT_ONCE)

    return Shard(str(file), schema, rows, batches)


def _in_memory(source: Any) -> pa.Table:
    import pyarrow as pa

    kind = type(source)
    try:
        if isinstance(source, pa.Table):
            return source
        if kind.__module__.partition(".")[0] == "pandas" and kind.__name__ == "DataFrame":
            return pa.Table.from_pandas(source, preserve_index=False)
        if kind.__module__.startswith("datasets.") and kind.__name__ == "Dataset":
            return source.with_format("arrow")[:]
        if kind.__module__.startswith("polars.") and kind.__name__ == "LazyFrame":
            source = source.collect()
        if hasattr(source, "__arrow_c_stream__"):
            return pa.table(source)
        if hasattr(source, "to_arrow_table"):
            # A relation of DuckDB before it had the protocol.
            return source.to_arrow_table()
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = " ".join("; ".join(map(str, error.args)).split())[:300]
        raise DataError(
            f"the table cannot be read: {reason}; a column holds values of one type, texts if need be"
        ) from None
    raise DataError(
        f"a table is a path, a data frame of pandas or polars, a table of pyarrow, a relation of DuckDB or a"
        f" datasets.Dataset, not {shown(source) if isinstance(source, (int, float, bytes)) else kind.__name__}"
    )


@contextlib.contextmanager
def _readable(name: str) -> Iterator[None]:
    """Say which file cannot be read, and why."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{name} cannot be read ({reason}); write it anew") from error
