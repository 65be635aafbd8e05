"""Queries, labels and features from the columns of a table, whose rows may come in any order.

Rows of one query are brought together, queries in the order of their first rows, and features written straight to
where they belong, some rows at a time.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankplug.data.tables import Table
from rankplug.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

MissingLabels = Literal["raise", "skip", "zero"]
MISSING_LABELS = ("raise", "skip", "zero")
ROWS_IN_CACHE = 1 << 11
ID = re.compile(r"(?i:(?:^|[_\-. ])(?:id|uuid|guid|docid|docno|qid)$)|[a-z0-9]I[dD]$")
"""Names of columns whose numbers name something and measure nothing."""


@dataclass(frozen=True)
class Columns:
    """Names of a table's columns.

    Args:
        query: which query a row belongs to, of any type.
        label: its relevance, zero or more, fractions welcome.
        document: its name, optional.
        features: in order; all other columns of numbers when there are none, but ids.
        missing_labels: what becomes of rows without a label: an error, left out, or irrelevant.
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
        places: of each row among the documents, -1 for rows that are left out.
        in_order: whether rows follow one another as documents do.
        labels: one a document.
        starts: where each query starts, and the number of documents last.
        query_ids: one a query.
        document_ids: one a document, if there is such a column.
        notes: what a reader should know of how the rows were taken.
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
    kept = np.flatnonzero(known)
    if not kept.size:
        raise DataError(f"{table.name} has no row with a label in {columns.label}")
    if kept.size < labels.size:
        # Queries that lose all of their rows are gone.
        present, codes = np.unique(codes[kept], return_inverse=True)
        query_ids = query_ids[present]
    order = np.arange(kept.size)
    if (np.diff(codes) < 0).any():
        order = np.argsort(codes, kind="stable")
        notes.append("rows were brought together by query")
    positions = np.full(labels.size, -1)
    positions[kept[order]] = np.arange(kept.size)
    document_ids = None
    if columns.document is not None:
        table.check(columns.document, "column for documents")
        document_ids = _identifiers(table, columns.document)[kept[order]]
    lengths = np.bincount(codes, minlength=query_ids.size)
    return Rows(
        positions=positions,
        in_order=bool(kept.size == labels.size and (np.diff(positions) == 1).all()),
        labels=labels[kept[order]].astype(np.float32),
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

    column = table.column(name)
    if column.null_count:
        first = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(f"{table.name}: the query of row {first} in {name} is missing ({column.null_count} such)")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = _spelt(column)
    try:
        coded = column.dictionary_encode().combine_chunks()
    except pa.ArrowException:
        raise DataError(f"{table.name}: the column for queries {name} holds {column.type}, no ids") from None
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), _plain(coded.dictionary, table, name)


def _identifiers(table: Table, name: str) -> NDArray[Any]:
    column = table.column(name)
    if column.null_count:
        first = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(f"{table.name}: the document of row {first} in {name} is missing ({column.null_count} such)")
    return _plain(_spelt(column), table, name)


def _spelt(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return ids of a type that Arrow stores as another, such as UUIDs as bytes, as the texts they are told in."""
    import pyarrow as pa

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
    notes = []
    if words:
        notes.append(f"{', '.join(words)} left out, no numbers")
        warnings.warn(
            f"{table.name}: {', '.join(words)} left out, no numbers; to use a category, write it as whole numbers from"
            " 0, and list all features in features=[...] to choose them yourself",
            stacklevel=3,
        )
    if ids:
        notes.append(f"{', '.join(ids)} left out, named as an id")
        warnings.warn(
            f"{table.name}: {', '.join(ids)} left out, named as an id; list all features in features=[...] if it is"
            " one, or name documents by it with document=...",
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

    tests: tuple[Callable[[pa.DataType], bool], ...] = (
        pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def _holds_rows(kind: pa.DataType) -> bool:
    """Tell whether a column holds lists of numbers."""
    import pyarrow as pa

    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return lists and _holds_numbers(kind.value_type)
