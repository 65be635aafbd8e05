"""Lists from tables: Parquet, Arrow and Feather files, folders of them, and what other libraries hold.

A table is read some rows at a time, and never mapped into memory: a mapped file that someone cuts short ends the
process that reads it. Its rows may come in any order: those of a query are brought together, queries in the order of
their first rows, and features are written straight to where they belong.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import DataError, ParameterError, did_you_mean, shown
from rankplug.system import require_modules

if TYPE_CHECKING:
    import pyarrow as pa

MissingLabels = Literal["raise", "skip", "zero"]
MISSING_LABELS = ("raise", "skip", "zero")
ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
PARQUET = (".parquet", ".pq")
NOT_DATA = (".", "_", "cache-")
"""Beginnings of files that other programs write beside data."""
ALWAYS_ALLOWED, LARGEST_GROWTH = 1 << 24, 10
"""Rows that any file may have, and rows per byte of a file that has more."""
ROWS_AT_ONCE = 1 << 14
"""Rows that are decoded at once; for more, memory is returned and allocated again each time."""
BYTES_AT_ONCE = 1 << 20
"""Bytes of each column that are read at once, whatever the size of a file's groups of rows."""
ROWS_IN_CACHE = 1 << 11
UNNAMED_INDEX = re.compile(r"__index_level_\d+__|Unnamed: \d+")
"""Columns to which pandas writes an index without a name, in Parquet and in CSV."""
ID = re.compile(r"(?i:(?:^|[_\-. ])(?:id|uuid|guid|docid|docno|qid)$)|[a-z0-9]I[dD]$")
"""Names of columns whose numbers name something and measure nothing."""


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
            rows = 0
            with _readable(shard.name):
                for batch in shard.batches(columns):
                    rows += batch.num_rows
                    if rows > shard.rows:
                        break
                    yield batch
            if rows != shard.rows:
                raise DataError(f"{shard.name} is damaged: its header names {shard.rows} rows, and it has others")

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
        raise DataError(f"{path} is not a regular file; save its content to one")
    return [path]


def shard_of(file: Path) -> Shard:
    """Open a file of a table."""
    with _readable(str(file)):
        shard = _parquet(file) if file.suffix.lower() in PARQUET else _arrow(file)
        size = file.stat().st_size
    if shard.rows > max(ALWAYS_ALLOWED, LARGEST_GROWTH * size):
        raise DataError(f"{file} claims {shard.rows:,} rows in {size:,} bytes, which no ranking data has")
    return shard


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
    # One column is enough to count rows.
    rows = sum(batch.num_rows for batch in read([0])[1])

    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in read([schema.get_field_index(name) for name in columns])[1]:
            # Arrow trusts offsets in the file, and would read beyond its end.
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
        raise DataError(f"{name} cannot be read ({reason}); write it again") from error


@dataclass(frozen=True)
class Columns:
    """Names of a table's columns.

    Args:
        query: column of the query of each row, of any type.
        label: column of relevance, zero or more, fractions allowed.
        document: column of the document's name, optional.
        features: in order; all other columns of numbers when there are none, but ids.
        missing_labels: rows without a label: an error, left out, or irrelevant.
    """

    query: str
    label: str
    document: str | None = None
    features: tuple[str, ...] = ()
    missing_labels: MissingLabels = "raise"


@dataclass(frozen=True, eq=False)
class Rows:
    """Everything of a table but its features.

    Args:
        positions: int array of shape (rows of the table,), position among the documents, -1 for rows that are left out.
        in_order: whether rows follow one another as documents do.
        labels: float array of shape (documents,).
        starts: where each query starts, and the number of documents last.
        query_ids: array of shape (queries,).
        document_ids: array of shape (documents,), if there is such a column.
        notes: how rows were reordered or left out, in words.
    """

    positions: NDArray[np.int64]
    in_order: bool
    labels: NDArray[np.float32]
    starts: NDArray[np.int64]
    query_ids: NDArray[Any]
    document_ids: NDArray[Any] | None
    notes: tuple[str, ...]


def read_rows(table: Table, columns: Columns) -> Rows:
    """Read queries, labels and names of the documents."""
    if columns.missing_labels not in MISSING_LABELS:
        raise ParameterError(f"missing_labels is one of {', '.join(MISSING_LABELS)}, not {columns.missing_labels!r}")
    if not table.rows:
        raise DataError(f"{table.name} has no rows")
    table.check(columns.query, "column for queries")
    table.check(columns.label, "column for labels")
    if columns.query == columns.label:
        raise DataError(f"{table.name}: the column {columns.query} cannot be both queries and labels")
    labels, notes = _labels(table, columns)
    known = ~np.isnan(labels)
    codes, query_ids = _coded(table, columns.query)
    labelled = np.flatnonzero(known)
    if not labelled.size:
        raise DataError(f"{table.name} has no row with a label in {columns.label}")
    if labelled.size < labels.size:
        # Queries that lose all of their rows are gone.
        present, codes = np.unique(codes[labelled], return_inverse=True)
        query_ids = query_ids[present]
    order = np.arange(labelled.size)
    if (np.diff(codes) < 0).any():
        order = np.argsort(codes, kind="stable")
        notes.append("rows were brought together by query")
    positions = np.full(labels.size, -1)
    positions[labelled[order]] = np.arange(labelled.size)
    document_ids = None
    if columns.document is not None:
        table.check(columns.document, "column for documents")
        document_ids = _plain(_ids(table, columns.document, "document"), table, columns.document)[labelled[order]]
    lengths = np.bincount(codes, minlength=query_ids.size)
    return Rows(
        positions=positions,
        in_order=bool(labelled.size == labels.size and (np.diff(positions) == 1).all()),
        labels=labels[labelled[order]].astype(np.float32),
        starts=np.concatenate(([0], np.cumsum(lengths))),
        query_ids=query_ids,
        document_ids=document_ids,
        notes=tuple(notes),
    )


def _labels(table: Table, columns: Columns) -> tuple[NDArray[np.float64], list[str]]:
    """Return the labels, nan for rows to leave out, and what was done about missing ones."""
    import pyarrow as pa

    column = table.column(columns.label)
    if not _holds_numbers(column.type):
        raise DataError(f"{table.name}: the column for labels {columns.label} holds {column.type}; labels are numbers")
    labels = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)
    missing = np.flatnonzero(np.isnan(labels))
    if not missing.size:
        return labels, []
    if columns.missing_labels == "raise":
        raise DataError(
            f"{table.name}: the label of row {missing[0]} in {columns.label} is missing ({missing.size} such); say"
            " missing_labels=skip to leave such rows out, or missing_labels=zero where they are irrelevant"
        )
    if columns.missing_labels == "zero":
        return np.where(np.isnan(labels), 0.0, labels), [f"{missing.size} missing labels are 0"]
    return labels, [f"{missing.size} rows without a label were left out"]


def _coded(table: Table, name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the position of each row's query among the queries, in the order of their first rows, and their ids."""
    import pyarrow as pa

    column = _ids(table, name, "query")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        coded = column.dictionary_encode().combine_chunks()
    except pa.ArrowException:
        raise DataError(f"{table.name}: the column for queries {name} holds {column.type}, no ids") from None
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), _plain(coded.dictionary, table, name)


def _ids(table: Table, name: str, what: str) -> pa.ChunkedArray:
    """Return a column of ids, none of which is missing; those stored as another type, such as UUIDs, as texts."""
    import pyarrow as pa

    column = table.column(name)
    if column.null_count:
        first = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(f"{table.name}: the {what} of row {first} in {name} is missing ({column.null_count} such)")
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    return pa.chunked_array([[str(value) for value in chunk.to_pylist()] for chunk in column.chunks], pa.string())


def _plain(column: pa.Array | pa.ChunkedArray, table: Table, name: str) -> NDArray[Any]:
    """Return ids as whole numbers where they are, else as texts."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
        return np.asarray(column.cast(pa.int64()).to_numpy(zero_copy_only=False))
    if pa.types.is_floating(kind):
        values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        if np.isnan(values).any():
            raise DataError(f"{table.name}: an id in {name} is missing (nan)")
        whole = (np.abs(values) < 2**53) & (values % 1 == 0)
        return values.astype(np.int64) if whole.all() else values
    try:
        texts = column.cast(pa.string())
    except pa.ArrowException:
        raise DataError(f"{table.name}: the column {name} holds {kind}, no ids") from None
    return np.array(texts.to_pylist(), dtype=np.str_)


def feature_columns(table: Table, columns: Columns) -> tuple[list[str], list[str]]:
    """Return the columns that hold features, and notes on those that were left out, of which users are warned.

    Without a list of features these are all columns of numbers, but those that are named as ids are, and the index of a
    data frame, which pandas writes as one more column.
    """
    taken = {columns.query, columns.label, columns.document}
    if columns.features:
        for name in columns.features:
            table.check(name, "feature")
            if name in taken:
                raise DataError(f"{name} cannot be a feature: it is named as query, label or document")
            kind = table.schema.field(name).type
            if not (_holds_numbers(kind) or _holds_rows(kind)):
                raise DataError(
                    f"{table.name}: the feature {name} holds {kind}; give numbers, or a data frame with categories to"
                    " rankplug.Ranker"
                )
        return list(columns.features), []
    index = table.index_columns
    others = [field for field in table.schema if field.name not in taken]
    numeric = [field.name for field in others if _holds_numbers(field.type) or _holds_rows(field.type)]
    words = [field.name for field in others if field.name not in {*numeric, *index}]
    ids = [name for name in numeric if ID.search(name) and name not in index]
    names = [name for name in numeric if name not in {*index, *ids}]
    if not names:
        raise DataError(
            f"{table.name} has no column of numbers beside those for queries, labels, documents and ids; name the"
            " features in features=[...]"
        )
    advice = {
        "no numbers": (words, "to use a category, write it as whole numbers from 0"),
        "named as an id": (ids, "name documents by it with document=..."),
    }
    notes = [f"{', '.join(left)} left out, {reason}" for reason, (left, _) in advice.items() if left]
    for reason, (left, sentence) in advice.items():
        if left:
            warnings.warn(
                f"{table.name}: {', '.join(left)} left out, {reason}; {sentence}, or list the features in"
                " features=[...]",
                stacklevel=3,
            )
    return names, notes


class FeatureReader:
    """Reader of a table's features into rows.

    Args:
        table: what is read.
        names: its columns of features, numbers or lists of numbers of one length.
    """

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.table, self.names = table, list(names)
        self._widths = [self._width(name) for name in names]
        self.used = np.zeros(self.width, np.bool_)

    @property
    def width(self) -> int:
        """Number of features."""
        return sum(max(width, 1) for width in self._widths)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features; those of a column of lists are numbered from 0."""
        pairs = zip(self.names, self._widths, strict=True)
        return tuple(
            name if not width else f"{name}_{index}" for name, width in pairs for index in range(max(width, 1))
        )

    def _width(self, name: str) -> int:
        """Return the length of a column's lists, 0 for plain numbers."""
        kind = self.table.schema.field(name).type
        if not _holds_rows(kind):
            return 0
        for batch in self.table.batches([name]):
            lengths = batch.column(0).value_lengths().drop_null()
            if len(lengths):
                return int(lengths[0].as_py())
        raise DataError(f"{self.table.name}: the feature {name} holds nothing but missing lists")

    def fill(self, rows: Rows, features: NDArray[np.float32]) -> None:
        """Write the features of every row that is taken to its place."""
        block = np.empty((ROWS_IN_CACHE, self.width), np.float32)
        first = 0
        for batch in self.table.batches(self.names):
            columns = [self._values(*pair) for pair in zip(self.names, batch.columns, strict=True)]
            for begin in range(0, batch.num_rows, ROWS_IN_CACHE):
                end = min(begin + ROWS_IN_CACHE, batch.num_rows)
                part = features[first + begin : first + end] if rows.in_order else block[: end - begin]
                self._fill_block(columns, begin, end, part)
                if not rows.in_order:
                    positions = rows.positions[first + begin : first + end]
                    taken = positions >= 0
                    features[positions[taken]] = part[taken]
                unused = ~self.used
                if unused.any():
                    self.used[unused] = (part[:, unused] != 0).any(axis=0)
            first += batch.num_rows

    def _values(self, name: str, column: pa.Array) -> NDArray[Any]:
        """Return a column's numbers, nan where they are missing; lists as rows."""
        import pyarrow as pa

        width = self._widths[self.names.index(name)]
        if not width:
            if pa.types.is_boolean(column.type) or pa.types.is_decimal(column.type) or column.null_count:
                column = column.cast(pa.uint8()) if pa.types.is_boolean(column.type) else column
                column = column.cast(pa.float64(), safe=False)
            return np.asarray(column.to_numpy(zero_copy_only=False))
        lengths = column.value_lengths()
        if column.null_count or (lengths.to_numpy(zero_copy_only=False) != width).any():
            raise DataError(f"{self.table.name}: the lists of the feature {name} are not all of {width} numbers")
        return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(-1, width)

    def _fill_block(self, columns: list[NDArray[Any]], begin: int, end: int, block: NDArray[np.float32]) -> None:
        column_number = 0
        try:
            # Once for all columns, as it costs as much as one of them takes.
            with np.errstate(over="raise"):
                for name, values, width in zip(self.names, columns, self._widths, strict=True):  # noqa: B007
                    if width:
                        block[:, column_number : column_number + width] = values[begin:end]
                    else:
                        block[:, column_number] = values[begin:end]
                    column_number += max(width, 1)
        except FloatingPointError:
            raise DataError(f"{self.table.name}: the feature {name} has values that float32 cannot hold") from None


def _holds_numbers(kind: pa.DataType) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _holds_rows(kind: pa.DataType) -> bool:
    """Tell whether a column holds lists of numbers."""
    import pyarrow as pa

    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return lists and _holds_numbers(kind.value_type)
