"""Lists from tables: Parquet, Arrow, Feather, CSV, TSV and JSON lines, folders of them, and what other libraries hold.

A table is read some rows at a time, and never mapped into memory: a mapped file that someone cuts short ends the
process that reads it. Text formats are read into memory at once, so that the type of a column does not depend on its
first rows. Rows may come in any order: those of a query are brought together, queries in the order of their first rows,
and features are written straight to where they belong.

Columns of text and of the type category are categories: their levels are stored with the data and with models, so that
the same text has the same code in every table.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankplug.errors import DataError, ParameterError, did_you_mean, shown
from rankplug.system import require_modules, whole_file

if TYPE_CHECKING:
    import pyarrow as pa

MissingLabels = Literal["raise", "skip", "zero"]
MISSING_LABELS = ("raise", "skip", "zero")
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
DELIMITED, JSON_LINES = (".csv", ".tsv"), (".jsonl", ".ndjson")
TEXT = tuple(ending + packed for ending in (*DELIMITED, *JSON_LINES) for packed in ("", ".gz"))
ENDINGS = (*PARQUET, *ARROW, *TEXT)
NOT_DATA = (".", "_", "cache-")
"""Beginnings of files that other programs write beside data."""
ALWAYS_ALLOWED, LARGEST_GROWTH = 1 << 24, 10
"""Rows that any file may have, and rows per byte of a file that has more."""
ROWS_AT_ONCE = 1 << 14
"""Rows that are decoded at once; for more, memory is returned and allocated again each time."""
BYTES_AT_ONCE = 1 << 20
"""Bytes of each column that are read at once, whatever the size of a file's groups of rows."""
ROWS_IN_CACHE = 1 << 11
UNNAMED_INDEX = re.compile(r"__index_level_\d+__|Unnamed: \d+|")
"""Columns to which pandas writes an index without a name, in Parquet and in CSV."""
ID = re.compile(r"(?i:(?:^|[_\-. ])(?:id|uuid|guid|docid|docno|qid)$)|[a-z0-9]I[dD]$")
"""Names of columns whose numbers name something and measure nothing."""
PLAIN = re.compile(r"[^a-z0-9]")
NAMES_OF_ROLES = {
    "query": ("query", "queryid", "qid", "search", "searchid", "session", "sessionid"),
    "label": ("label", "relevance", "rel", "grade", "rating", "target"),
    "document": ("document", "documentid", "doc", "docid", "docno", "productid", "itemid"),
}
"""Usual names of the columns of queries, labels and documents, in lower case without other signs than letters."""
LEAST_ROWS_OF_IDS = 50
"""Rows from which whole numbers that never repeat are taken for ids."""
MOST_LEVELS = 1000
"""Levels up to which a text is a category, if a level has two rows on average."""
LARGEST_TEXT_GROWTH = 100
"""Size of a text when decompressed, in sizes of its file."""


class ColumnsWarning(UserWarning):
    """What the columns of a table were taken as, where some are left out or guessed."""


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

    def columns(self, names: Iterable[str]) -> pa.Table:
        """Return some columns as one table."""
        import pyarrow as pa

        return pa.table({name: self.column(name) for name in names})

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
    if isinstance(source, Table):
        return source
    if isinstance(source, (str, os.PathLike)):
        path = Path(source).expanduser()
        return Table(str(path), [shard_of(file) for file in table_files(path)])
    name = f"a table of {type(source).__module__.partition('.')[0]}"
    return Table(name, [_shard_in_memory(name, _in_memory(source))])


def table_files(path: Path) -> list[Path]:
    """Return the file of a path, or all files of tables in a folder, in the order of their names."""
    try:
        if path.is_dir():
            inside = (file for file in path.rglob("*") if file.name.lower().endswith(ENDINGS) and file.is_file())
            return sorted(file for file in inside if not file.name.startswith(NOT_DATA))
        there = path.exists()
    except OSError as error:
        raise DataError(f"{str(path)[:200]} cannot be read: {error.strerror or error}") from error
    if not there:
        raise DataError(f"there is no file or folder {path}")
    if not path.name.lower().endswith(ENDINGS):
        raise DataError(f"{path} is no table: expected a file that ends in {', '.join(ENDINGS)}, or a folder of them")
    if not path.is_file():
        raise DataError(f"{path} is not a regular file; save its content to one")
    return [path]


def shard_of(file: Path) -> Shard:
    """Open a file of a table."""
    name = file.name.lower()
    with _readable(str(file)):
        if name.endswith(TEXT):
            return _shard_in_memory(str(file), _read_text(file))
        shard = _parquet(file) if name.endswith(PARQUET) else _arrow(file)
        size = file.stat().st_size
    if shard.rows > max(ALWAYS_ALLOWED, LARGEST_GROWTH * size):
        raise DataError(f"{file} claims {shard.rows:,} rows in {size:,} bytes, which no ranking data has")
    return shard


def _read_text(file: Path) -> pa.Table:
    """Read CSV, TSV or JSON lines, which may be compressed; a CSV's delimiter is the most frequent one of its head."""
    import pyarrow as pa
    from pyarrow import csv, json

    limit = max(1 << 28, LARGEST_TEXT_GROWTH * file.stat().st_size)
    with pa.input_stream(str(file)) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise DataError(f"{file} grows to more than {limit:,} bytes when decompressed; save it as Parquet")
    # One block, as types are those of the first one.
    block_size = min(len(content) + 1, 2**31 - 1)
    if file.name.lower().removesuffix(".gz").endswith(JSON_LINES):
        return json.read_json(pa.BufferReader(content), json.ReadOptions(block_size=block_size))
    head = content[: content.find(b"\n") % (len(content) + 1)]
    delimiter = max(b",\t;|", key=head.count)
    return csv.read_csv(
        pa.BufferReader(content),
        csv.ReadOptions(block_size=block_size),
        csv.ParseOptions(delimiter=chr(delimiter), newlines_in_values=True),
        csv.ConvertOptions(strings_can_be_null=True),
    )


def write_table(table: pa.Table, file: Path) -> None:
    """Write a table in the format that the file's name ends in."""
    from pyarrow import feather, parquet

    name = file.name.lower()
    if not name.endswith(ENDINGS):
        raise DataError(f"{file} has no format of a table: end its name in {', '.join(ENDINGS)}")
    packed: Any = "gzip" if name.endswith(".gz") else None
    with whole_file(file) as opened:
        if name.endswith(PARQUET):
            parquet.write_table(table, opened)
        elif name.endswith(ARROW):
            feather.write_feather(table, opened)
        elif name.removesuffix(".gz").endswith(JSON_LINES):
            table.to_pandas().to_json(opened, orient="records", lines=True, compression=packed, double_precision=15)
        else:
            delimiter = "\t" if ".tsv" in name else ","
            table.to_pandas().to_csv(opened, sep=delimiter, index=False, mode="wb", compression=packed)


def _shard_in_memory(name: str, table: pa.Table) -> Shard:
    def batches(columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return iter(table.select(list(columns)).to_batches(max_chunksize=ROWS_AT_ONCE))

    return Shard(name, table.schema, table.num_rows, batches)


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
    """Roles that the user gives to a table's columns.

    Args:
        query: column of the query of each row, of any type; guessed by its name when empty.
        label: column of relevance, zero or more, fractions allowed; guessed by its name when empty, None for data that
            are only scored.
        document: column of the document's name, optional; guessed by its name when empty.
        features: in order; all other columns of numbers and categories when there are none, but ids.
        categorical: features that are categories although they hold numbers: whole numbers from 0, or levels by name.
        missing_labels: rows without a label: an error, left out, or irrelevant.
    """

    query: str = ""
    label: str | None = ""
    document: str | None = None
    features: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
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
    """Read queries, labels and names of the documents; labels are 0 where the columns name none."""
    if columns.missing_labels not in MISSING_LABELS:
        raise ParameterError(f"missing_labels is one of {', '.join(MISSING_LABELS)}, not {columns.missing_labels!r}")
    if not table.rows:
        raise DataError(f"{table.name} has no rows")
    table.check(columns.query, "column for queries")
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

    if columns.label is None:
        return np.zeros(table.rows), []
    table.check(columns.label, "column for labels")
    if columns.query == columns.label:
        raise DataError(f"{table.name}: the column {columns.query} cannot be both queries and labels")
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
    if pa.types.is_dictionary(column.type):
        return pa.chunked_array([_decoded(chunk) for chunk in column.chunks])
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


@dataclass(frozen=True)
class TableLayout:
    """What each column of a table is taken as.

    Args:
        roles: columns of queries, labels and documents.
        features: columns of features, in order.
        categories: levels of each feature that is a category, in the order of their codes; none where the numbers are
            the codes.
        left_out: reason why a column is no feature.
        guessed: roles whose column was guessed by its name.
    """

    roles: Columns
    features: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str]
    guessed: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Table, columns: Columns) -> TableLayout:
        """Choose the features of a table; a warning names the columns that are none, and what was guessed."""
        guesses: dict[str, Any] = {
            role: guessed_column(table, role) for role in NAMES_OF_ROLES if getattr(columns, role, None) == ""
        }
        roles = replace(columns, **guesses)
        taken = {roles.query, roles.label, roles.document}
        left_out: dict[str, str] = {}
        if columns.features:
            for name in columns.features:
                table.check(name, "feature")
                if name in taken:
                    raise DataError(f"{name} cannot be a feature: it is named as query, label or document")
            names = list(columns.features)
        else:
            names = [name for name in table.schema.names if name not in {*taken, *table.index_columns}]
            left_out = _no_features(table, names, columns.categorical)
            names = [name for name in names if name not in left_out]
        if not names:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:5])
            raise DataError(
                f"{table.name} has no column of numbers or categories beside those for queries, labels, documents and"
                f" ids{f' ({reasons})' if reasons else ''}; name the features in features=[...]"
            )
        if unknown := [name for name in columns.categorical if name not in names]:
            raise DataError(f"{unknown[0]} cannot be categorical: {did_you_mean(str(unknown[0]), names)}")
        categories = {}
        for name in names:
            kind = table.schema.field(name).type
            if _holds_text(kind):
                categories[name] = _levels(table, name)
            elif not (_holds_numbers(kind) or _holds_rows(kind)):
                raise DataError(f"{table.name}: the feature {name} holds {kind}; give numbers or text")
        layout = cls(roles, tuple(names), categories, left_out, tuple(role for role in guesses if guesses[role]))
        if left_out or layout.guessed:
            advice = "; list the features in features=[...] to choose others" if left_out else ""
            warnings.warn(f"{table.name}: {in_words(layout.describe())}{advice}", ColumnsWarning, stacklevel=3)
        return layout

    def describe(self) -> dict[str, Any]:
        """Return the layout as plain values for JSON."""
        return {
            "query": self.roles.query,
            "label": self.roles.label,
            "document": self.roles.document,
            "guessed": list(self.guessed),
            "features": list(self.features),
            "categories": {name: len(levels) for name, levels in self.categories.items()}
            | {name: 0 for name in self.roles.categorical if name not in self.categories},
            "left_out": dict(self.left_out),
        }


def in_words(layout: Mapping[str, Any]) -> str:
    """Return the description of a layout as one line."""

    def some(names: Sequence[str]) -> str:
        return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")

    levels = [f"{name} ({number} levels)" if number else name for name, number in layout["categories"].items()]
    parts = {
        **{
            role: f"{layout[role]}{' (guessed)' if role in layout['guessed'] else ''}"
            for role in NAMES_OF_ROLES
            if layout[role]
        },
        "features": some([name for name in layout["features"] if name not in layout["categories"]]),
        "categories": some(levels),
        "left out": some([f"{name} ({reason})" for name, reason in layout["left_out"].items()]),
    }
    return "; ".join(f"{what}: {names}" for what, names in parts.items() if names)


def guessed_column(table: Table, role: str) -> str | None:
    """Return the column whose name is usual for a role; None where there is none, an error for queries and labels."""
    plain = {PLAIN.sub("", name.lower()): name for name in reversed(table.schema.names)}
    usual = NAMES_OF_ROLES[role]
    if column := next((plain[name] for name in usual if name in plain), None):
        return column
    if role == "document":
        return None
    raise DataError(
        f"{table.name} has no column with a usual name for the {role}, such as {', '.join(usual[:4])}; say"
        f" {role}=COLUMN, one of {', '.join(table.schema.names[:20])}"
    )


def _no_features(table: Table, names: Sequence[str], categorical: Sequence[str]) -> dict[str, str]:
    """Return why some columns are no features unless the user lists them."""
    reasons: dict[str, str] = {}
    whole = []
    for name in names:
        kind = table.schema.field(name).type
        if name in categorical:
            continue
        if ID.search(name) or PLAIN.sub("", name.lower()) in NAMES_OF_ROLES["query"]:
            reasons[name] = "named as an id"
        elif pa_types().is_dictionary(kind) or _holds_rows(kind):
            continue
        elif _holds_text(kind):
            if reason := _no_category(table, name):
                reasons[name] = reason
        elif pa_types().is_integer(kind):
            whole.append(name)
        elif not _holds_numbers(kind):
            reasons[name] = "empty" if pa_types().is_null(kind) else f"holds {kind}"
    if whole and table.rows >= LEAST_ROWS_OF_IDS:
        head = next(table.batches(whole))
        for name, column in zip(whole, head.columns, strict=True):
            # One look at the first rows spares reading almost all columns.
            if len(column.unique()) == len(column) and len(table.column(name).unique()) == table.rows:
                reasons[name] = "whole numbers that never repeat, as ids"
    return reasons


def _no_category(table: Table, name: str) -> str:
    """Return why a column of text is no category; empty where it is one."""
    levels: set[str | None] = set()
    for batch in table.batches([name]):
        levels.update(_texts(batch.column(0)).unique().to_pylist())
        if len(levels) > MOST_LEVELS or 2 * len(levels) > table.rows:
            return "text with many values"
    return "one value" if len(levels) < 2 else ""


def _levels(table: Table, name: str) -> tuple[str, ...]:
    """Return the levels of a category: in the order that its type declares, else sorted."""
    levels: dict[str, None] = {}
    ordered = getattr(table.schema.field(name).type, "ordered", False)
    for batch in table.batches([name]):
        column = batch.column(0)
        texts = _texts(column.dictionary if ordered else column.unique())
        levels.update(dict.fromkeys(text for text in texts.to_pylist() if text is not None))
    return tuple(levels if ordered else sorted(levels))


def _texts(column: pa.Array) -> pa.Array:
    """Return the texts of categories, the same for equal numbers of any type; empty ones and nan are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _decoded(column)
    if pa.types.is_floating(column.type):
        return pa.array([level_of(value) for value in column.to_pylist()], pa.string())
    texts = column.cast(pa.string())
    return pc.if_else(pc.equal(texts, ""), None, texts)


def _decoded(column: pa.Array) -> pa.Array:
    """Return the values of a column whose type is a category; another column as it is."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    values = column.dictionary
    # Polars' texts have no kernel to take some of them.
    values = values.cast(pa.string()) if pa.types.is_string_view(values.type) else values
    return values.take(column.indices)


def level_of(value: float | None) -> str | None:
    """Return the level that a number stands for.

    >>> level_of(3.0), level_of(0.5), level_of(float("nan"))
    ('3', '0.5', None)
    """
    if value is None or value != value:
        return None
    return str(int(value)) if float(value).is_integer() else str(value)


class FeatureReader:
    """Reader of a table's features into rows.

    Args:
        table: what is read.
        names: its columns of features: numbers, categories, or lists of numbers of one length.
        categories: levels of the categories among them, whose codes are their positions; another level is missing.
    """

    def __init__(self, table: Table, names: Sequence[str], categories: Mapping[str, Sequence[str]]) -> None:
        self.table, self.names, self.categories = table, list(names), categories
        for name in names:
            table.check(name, "feature")
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
        """Return the length of a column's lists, 0 for others, whose type is checked."""
        kind = self.table.schema.field(name).type
        if not _holds_rows(kind):
            if name not in self.categories and not (_holds_numbers(kind) or pa_types().is_null(kind)):
                raise DataError(
                    f"{self.table.name}: the feature {name} holds {kind} where numbers are expected; convert its values"
                    " to numbers, and leave those that are none empty"
                )
            return 0
        for batch in self.table.batches([name]):
            lengths = batch.column(0).value_lengths().drop_null()
            if len(lengths):
                return int(lengths[0].as_py())
        raise DataError(f"{self.table.name}: the feature {name} holds nothing but missing lists")

    def matrix(self, rows: Rows | None = None) -> NDArray[np.float32]:
        """Return the features of all rows that are taken."""
        features = np.empty((self.table.rows if rows is None else rows.labels.size, self.width), np.float32)
        self.fill(rows, features)
        return features

    def fill(self, rows: Rows | None, features: NDArray[np.float32]) -> None:
        """Write the features of every row that is taken to its place; of all rows in their order without ``rows``."""
        block = np.empty((ROWS_IN_CACHE, self.width), np.float32)
        first = 0
        for batch in self.table.batches(self.names):
            columns = [self._values(*pair) for pair in zip(self.names, batch.columns, strict=True)]
            for begin in range(0, batch.num_rows, ROWS_IN_CACHE):
                end = min(begin + ROWS_IN_CACHE, batch.num_rows)
                in_order = rows is None or rows.in_order
                part = features[first + begin : first + end] if in_order else block[: end - begin]
                self._fill_block(columns, begin, end, part)
                if rows is not None and not rows.in_order:
                    positions = rows.positions[first + begin : first + end]
                    taken = positions >= 0
                    features[positions[taken]] = part[taken]
                unused = ~self.used
                if unused.any():
                    self.used[unused] = (part[:, unused] != 0).any(axis=0)
            first += batch.num_rows

    def _values(self, name: str, column: pa.Array) -> NDArray[Any]:
        """Return a column's numbers or codes, nan where they are missing; lists as rows."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if name in self.categories:
            levels = pa.array(self.categories[name], pa.string())
            codes = pc.index_in(_texts(column), value_set=levels, skip_nulls=True)
            return np.asarray(codes.cast(pa.float64()).to_numpy(zero_copy_only=False))
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


def pa_types() -> Any:
    """Return pyarrow's module of types, imported at first use."""
    import pyarrow as pa

    return pa.types


def _holds_numbers(kind: pa.DataType) -> bool:
    types = pa_types()
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _holds_text(kind: pa.DataType) -> bool:
    """Tell whether a column's values are names: texts, or what its type declares as categories."""
    types = pa_types()
    return bool(
        types.is_dictionary(kind) or types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    )


def _holds_rows(kind: pa.DataType) -> bool:
    """Tell whether a column holds lists of numbers."""
    types = pa_types()
    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return lists and _holds_numbers(kind.value_type)
