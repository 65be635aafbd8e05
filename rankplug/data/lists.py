"""The one data object: the documents of all queries in one array, with the offset where each query starts.

>>> import numpy as np
>>> lists = Lists(np.ones((5, 2), np.float32), labels=[1, 0, 2, 0, 0], starts=[0, 2, 5])
>>> len(lists), lists.documents, lists.lengths.tolist()
(2, 5, [2, 3])
>>> lists[1:].labels.tolist()
[2.0, 0.0, 0.0]
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.data.tables import Columns, FeatureReader, MissingLabels, TableLayout, level_of, open_table, read_rows
from rankplug.errors import DataError, ParameterError, shown
from rankplug.system import distinct, identifiers, numbers, refuse_masked, threads, whole_number, workers

Integers = NDArray[np.int64]
ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class ClickCounts:
    """Impressions and clicks of each document at each position; ``rankplug_clicks`` counts and uses them.

    Args:
        shown: int array of shape (documents, positions), impressions of each document at each position.
        clicked: int array of the same shape, clicks there.
        true_propensities: float array of shape (positions,), the probability of a look, where clicks are simulated.
        true_labels: float array of shape (documents,), relevance, where clicks are simulated.
    """

    shown: NDArray[np.int32]
    clicked: NDArray[np.int32]
    true_propensities: NDArray[np.float64] | None = None
    true_labels: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        shown, clicked = numbers(self.shown, "shown", "int32"), numbers(self.clicked, "clicked", "int32")
        if shown.ndim != 2 or shown.shape != clicked.shape or not shown.shape[1]:
            raise DataError(
                "shown and clicked are counts with one row a document and one column a position, got shapes"
                f" {shown.shape} and {clicked.shape}"
            )
        wrong = np.argwhere((clicked < 0) | (clicked > shown))
        if wrong.size:
            document, place = wrong[0]
            raise DataError(
                f"document {document} has {clicked[document, place]} clicks at position {place + 1}, where it was shown"
                f" {shown[document, place]} times"
            )
        object.__setattr__(self, "shown", shown)
        object.__setattr__(self, "clicked", clicked)

    def __len__(self) -> int:
        return int(self.shown.shape[0])

    def __getitem__(self, documents: Any) -> Self:
        """Return the clicks of some documents."""
        labels = None if self.true_labels is None else self.true_labels[documents]
        return replace(self, shown=self.shown[documents], clicked=self.clicked[documents], true_labels=labels)

    def unseen(self, documents: int) -> Self:
        """Return the clicks of other documents of the same log that were never shown and are irrelevant."""
        none = np.zeros((documents, self.shown.shape[1]), np.int32)
        labels = None if self.true_labels is None else np.zeros(documents, np.float32)
        return replace(self, shown=none, clicked=none, true_labels=labels)

    @staticmethod
    def concatenate(parts: Sequence[ClickCounts]) -> ClickCounts:
        """Concatenate the clicks of several lists; positions that some lack count nothing there."""
        widest = max(parts, key=lambda part: part.shown.shape[1])

        def joined(counts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
            width = widest.shown.shape[1]
            return np.concatenate([np.pad(count, ((0, 0), (0, width - count.shape[1]))) for count in counts])

        labels = [part.true_labels for part in parts if part.true_labels is not None]
        return replace(
            widest,
            shown=joined([part.shown for part in parts]),
            clicked=joined([part.clicked for part in parts]),
            true_labels=np.concatenate(labels) if len(labels) == len(parts) else None,
        )


@dataclass(frozen=True, eq=False)
class Lists:
    """Documents of many queries, ragged: ``features[starts[q]:starts[q + 1]]`` are those of query ``q``.

    Args:
        features: float32 array of shape (documents, features) in C order, may be memory-mapped.
        labels: float array of shape (documents,), relevance, zero or more.
        starts: int array of shape (queries + 1,), offsets, the number of documents last.
        query_ids: array of shape (queries,); positions when absent.
        document_ids: array of shape (documents,), optional.
        source: origin of the data in words, for messages and records.
        feature_names: names of all columns, or none; engines write them into their models.
        categorical: positions of features whose values are codes of categories, whole numbers from 0.
        clicks: impressions and clicks of each document at each position, optional.
        categories: levels of categorical features by name, in the order of their codes; a feature without levels has
            codes of its own.
        columns: what the columns of a table were taken as, where the lists come from one.
    """

    features: NDArray[np.float32]
    labels: NDArray[np.float32]
    starts: Integers
    query_ids: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))
    document_ids: NDArray[Any] | None = None
    source: str = ""
    feature_names: tuple[str, ...] = ()
    categorical: tuple[int, ...] = ()
    clicks: ClickCounts | None = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        features = self.features
        refuse_masked(features, "features")
        if not (isinstance(features, np.ndarray) and features.dtype == np.float32 and features.flags.c_contiguous):
            features = numbers(features, "features", "float32")
        if features.ndim != 2:
            raise DataError(
                f"features must have one row a document and one column a feature, got shape {features.shape}"
            )
        labels = numbers(self.labels, "labels", "float32")
        if labels.shape != (features.shape[0],):
            raise DataError(f"{features.shape[0]} rows of features, but labels of shape {labels.shape}")
        starts = check_starts(self.starts, features.shape[0])
        query_ids = identifiers(self.query_ids, "query ids")
        if query_ids.size == 0:
            query_ids = np.arange(starts.size - 1)
        if query_ids.shape != (starts.size - 1,):
            raise DataError(f"starts has {starts.size - 1} queries, but there are {query_ids.size} query ids")
        document_ids = None if self.document_ids is None else identifiers(self.document_ids, "document ids")
        if document_ids is not None and document_ids.shape != labels.shape:
            raise DataError(f"{labels.size} documents, but {document_ids.size} document ids")
        check_clicks(self.clicks)
        if self.clicks is not None and len(self.clicks) != labels.size:
            raise DataError(f"{labels.size} documents, but clicks on {len(self.clicks)}")
        feature_names, categorical = checked_features(self.feature_names, self.categorical, features.shape[1])
        if unknown := self.categories.keys() - set(feature_names):
            raise DataError(f"categories has levels of {min(unknown)}, which is the name of no feature")
        categorical = tuple(sorted({*categorical, *map(feature_names.index, self.categories)}))
        for name, value in (
            ("feature_names", feature_names),
            ("categorical", categorical),
            ("features", features),
            ("labels", labels),
            ("starts", starts),
            ("query_ids", query_ids),
            ("document_ids", document_ids),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_query_ids(
        cls, features: ArrayLike, labels: ArrayLike, query_ids: ArrayLike, document_ids: ArrayLike | None = None
    ) -> Lists:
        """Make lists from one query id a document, as scikit-learn and XGBoost use."""
        ids = identifiers(query_ids, "query ids")
        matrix = numbers(features, "features", "float32")
        if ids.shape != (matrix.shape[0],):
            raise DataError(f"{matrix.shape[0]} rows of features, but query ids of shape {ids.shape}")
        starts = starts_of(ids)
        return cls(
            matrix,
            numbers(labels, "labels", "float32"),
            starts,
            ids[starts[:-1]],
            None if document_ids is None else identifiers(document_ids, "document ids"),
        )

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        query: str,
        label: str | None,
        document: str | None = None,
        features: Sequence[str] = (),
        categorical: Sequence[str] = (),
        missing_labels: MissingLabels = "raise",
        categories: Mapping[str, Sequence[str]] | None = None,
    ) -> Lists:
        """Make lists from a table with a column of queries; its rows may come in any order.

        Columns of text and of the type category are categories. A warning names columns that are no features.

        Args:
            table: a Parquet, Arrow, Feather, CSV, TSV or JSON lines file or a folder of some, a data frame of pandas or
                polars, a table of pyarrow, a relation of DuckDB, or a ``datasets.Dataset``.
            query: column of the query of each row, of any type.
            label: column of relevance, zero or more; None where rows are only to be scored.
            document: column of the names of documents, if any.
            features: columns of features, in order; all other columns of numbers and categories when there are none,
                but those that look like an id, such as ``product_id``, and the index of a data frame.
            categorical: features of numbers that are codes of categories, whole numbers from 0.
            missing_labels: treatment of rows without a label: ``raise`` an error, ``skip`` them, or take them as
                irrelevant, ``zero``.
            categories: levels of categories by feature, such as those of other lists; those of the table by default.
        """
        for what, names in (("features", features), ("categorical", categorical)):
            if isinstance(names, str):
                raise ParameterError(f"{what} is a list of columns, not {names!r}; write [{names!r}]")
        opened = open_table(table)
        columns = Columns(query, label, document, tuple(features), tuple(categorical), missing_labels)
        layout = TableLayout.of(opened, columns)
        rows = read_rows(opened, layout.roles)
        check_labels(rows.labels, f" in {opened.name}")
        levels = layout.categories if categories is None else categories
        reader = FeatureReader(opened, layout.features, levels)
        known = reader.feature_names
        return cls(
            reader.matrix(rows),
            rows.labels,
            rows.starts,
            rows.query_ids,
            rows.document_ids,
            f"{opened.name} ({'; '.join(rows.notes)})" if rows.notes else opened.name,
            known,
            tuple(map(known.index, layout.roles.categorical)),
            categories={name: tuple(levels[name]) for name in known if name in levels},
            columns=layout.describe(),
        )

    def __len__(self) -> int:
        return self.starts.size - 1

    def __repr__(self) -> str:
        name = f" of {self.source}" if self.source else ""
        return f"<Lists{name}: {len(self):,} queries, {self.documents:,} documents, {self.features.shape[1]} features>"

    @property
    def documents(self) -> int:
        """Number of documents over all queries."""
        return int(self.features.shape[0])

    @cached_property
    def lengths(self) -> Integers:
        """Number of documents of each query."""
        return np.diff(self.starts)

    @property
    def query_of_document(self) -> Integers:
        """The query's position, one a document."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def __getitem__(self, queries: int | slice | Sequence[int] | NDArray[Any]) -> Lists:
        """Return the lists of some queries; a plain slice shares memory, anything else copies."""
        if isinstance(queries, (int, np.integer)):
            position = int(queries)
            if not -len(self) <= position < len(self):
                raise IndexError(f"query number {position} of {len(self)}")
            position %= len(self)
            queries = slice(position, position + 1)
        if isinstance(queries, slice):
            first, last, step = queries.indices(len(self))
            if step == 1:
                last = max(first, last)
                span = slice(int(self.starts[first]), int(self.starts[last]))
                return replace(
                    self,
                    features=self.features[span],
                    labels=self.labels[span],
                    starts=self.starts[first : last + 1] - self.starts[first],
                    query_ids=self.query_ids[first:last],
                    document_ids=None if self.document_ids is None else self.document_ids[span],
                    clicks=None if self.clicks is None else self.clicks[span],
                )
            chosen = np.arange(len(self))[queries]
        else:
            chosen = np.asarray(queries)
            if chosen.dtype == bool and chosen.shape != (len(self),):
                raise DataError(f"{len(self)} queries, but truth values of shape {chosen.shape} to choose among them")
            chosen = np.flatnonzero(chosen) if chosen.dtype == bool else numbers(queries, "queries", "int64")
        return self.take(self.rows(chosen), np.concatenate(([0], np.cumsum(self.lengths[chosen]))), chosen)

    def take(self, documents: NDArray[Any], starts: Integers, queries: NDArray[Any]) -> Lists:
        """Return new lists of some documents, see :meth:`gather`.

        >>> lists = Lists(np.eye(4), labels=[0, 1, 2, 3], starts=[0, 2, 4], query_ids=[7, 8])
        >>> turned = lists.take(np.array([3, 2, 0]), starts=np.array([0, 2, 3]), queries=np.array([1, 0]))
        >>> turned.labels.tolist(), turned.query_ids.tolist()
        ([3.0, 2.0, 0.0], [8, 7])
        """
        return Lists.gather([self], documents, starts, queries)

    @staticmethod
    def gather(parts: Sequence[Lists], documents: NDArray[Any], starts: Integers, queries: NDArray[Any]) -> Lists:
        """Return new lists of the documents of several lists: every selection, repetition and rearrangement is this.

        Names of features, categories, clicks and ids go with the documents; those that some parts lack are dropped,
        but clicks, whose absence from some parts is an error.

        Args:
            parts: lists with the same features.
            documents: int array of shape (documents of the result,), positions among the documents of all parts.
            starts: offsets of the result's queries, and its number of documents last.
            queries: int array of shape (queries of the result,), the positions among the queries of all parts of those
                whose ids the result's have.
        """
        parts = _checked_parts(parts)
        widths = {part.features.shape[1] for part in parts}
        if len(widths) > 1:
            raise DataError(f"lists with different numbers of features cannot be joined: {sorted(widths)}")
        if len({(part.feature_names, part.categorical, *sorted(part.categories)) for part in parts}) > 1:
            raise DataError("lists whose features have other names or other categorical ones cannot be joined")
        levels = {
            name: tuple(dict.fromkeys(level for part in parts for level in part.categories[name]))
            for name in parts[0].categories
        }
        parts = [part.with_categories(levels) for part in parts]
        named = [part.document_ids for part in parts if part.document_ids is not None]
        clicks = [part.clicks for part in parts if part.clicks is not None]
        if 0 < len(clicks) < len(parts):
            raise DataError(
                "some of the lists carry clicks and others do not; join or split them before a transform such as"
                " click_log adds clicks to some"
            )
        return Lists(
            _rows([part.features for part in parts], documents),
            _rows([part.labels for part in parts], documents),
            starts,
            _rows([part.query_ids for part in parts], queries),
            _rows(named, documents) if len(named) == len(parts) else None,
            " + ".join(dict.fromkeys(part.source for part in parts if part.source)),
            parts[0].feature_names,
            parts[0].categorical,
            ClickCounts.concatenate(clicks)[documents] if clicks else None,
            levels,
            parts[0].columns,
        )

    def with_categories(self, categories: Mapping[str, Sequence[str]]) -> Lists:
        """Return the lists with the codes that categories have in other data or in a model.

        A level that those do not know is missing there. Numbers become the codes of the levels that they are named by.

        Args:
            categories: levels of all categorical features by name; features that the lists lack are ignored.
        """
        if numeric := [name for name in self.categories if name in self.feature_names and name not in categories]:
            raise DataError(
                f"{numeric[0]} is a number in the training data and text in {self.source or 'these'}, such as"
                f" {', '.join(self.categories[numeric[0]][:3])}; convert its values to numbers"
            )
        levels = {name: tuple(categories[name]) for name in self.feature_names if name in categories}
        if levels == self.categories:
            return self
        features = self.features.copy()
        for name, known in levels.items():
            place, code = self.feature_names.index(name), {level: number for number, level in enumerate(known)}
            column = features[:, place]
            if name in self.categories:
                own = np.array([code.get(level, np.nan) for level in self.categories[name]], np.float32)
                present = ~np.isnan(column)
                column[present] = own[column[present].astype(np.int64)]
            elif place not in self.categorical:
                values, inverse = np.unique(column, return_inverse=True)
                codes = [code.get(level_of(value) or "", np.nan) for value in values.tolist()]
                column[:] = np.array(codes, np.float32)[inverse]
        return replace(self, features=features, categories=levels)

    def rows(self, queries: NDArray[Any]) -> Integers:
        """Return the positions of the documents of some queries, in the order of the queries."""
        return ranges(self.starts[:-1][queries], self.lengths[queries])

    def __iter__(self) -> Iterator[Lists]:
        return (self[query] for query in range(len(self)))

    def shuffled(self, seed: int | np.random.Generator) -> Lists:
        """Return the same queries in random order; the documents inside a query keep theirs."""
        return self[_random_order(len(self), seed)]

    def batches(self, queries: int, seed: int | np.random.Generator | None = None) -> Iterator[NDArray[np.int64]]:
        """Yield the positions of the queries of each mini-batch, every query once; shuffled unless ``seed`` is None."""
        whole_number(queries, "the number of queries of a mini-batch", least=1)
        order = np.arange(len(self)) if seed is None else _random_order(len(self), seed)
        return (order[first : first + queries] for first in range(0, order.size, queries))

    @staticmethod
    def concatenate(parts: Sequence[Lists]) -> Lists:
        """Concatenate several lists."""
        parts = _checked_parts(parts)
        starts = np.concatenate(([0], np.cumsum(np.concatenate([part.lengths for part in parts]))))
        return Lists.gather(parts, np.arange(starts[-1]), starts, np.arange(starts.size - 1))

    @cached_property
    def fingerprint(self) -> str:
        """A short digest of features, labels and offsets; equal data have equal digests wherever they lie."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(repr(self.features.shape).encode())
        if self.categorical:
            digest.update(f"categorical {self.categorical}".encode())
        if self.categories:
            digest.update(repr(sorted(self.categories.items())).encode())
        arrays: tuple[NDArray[Any], ...] = (self.starts, self.labels, self.features)
        if self.clicks is not None:
            arrays = (*arrays, self.clicks.shown, self.clicks.clicked)
        for array in arrays:
            flat = array.reshape(-1)
            for first in range(0, flat.size, 1 << 24):
                digest.update(flat[first : first + (1 << 24)].data)
        return digest.hexdigest()

    def with_fingerprint(self, fingerprint: str) -> Lists:
        """Return the lists with a fingerprint that was taken before, which spares reading memory-mapped data for it."""
        self.__dict__["fingerprint"] = fingerprint
        return self

    def validate(self) -> Lists:
        """Check the values, finite features, labels of zero or more and no query twice, and return the lists.

        Shapes and offsets are checked on construction; the values only here, as it reads every feature.
        """
        where = f" in {self.source}" if self.source else ""
        check_labels(self.labels, where)
        for first in range(0, self.documents, 1 << 16):
            block = self.features[first : first + (1 << 16)]
            finite = np.isfinite(block)
            if not finite.all():
                row, column = (int(value[0]) for value in np.nonzero(~finite))
                name = self.feature_names[column] if self.feature_names else column + 1
                raise DataError(f"feature {name} of document {first + row}{where} is {block[row, column]}; replace it")
        values, counts = np.unique(self.query_ids, return_counts=True)
        if values.size != len(self):
            repeated = values[np.argmax(counts > 1)]
            raise DataError(f"query id {repeated}{where} occurs {counts.max()} times; every query must occur once")
        return self


def over_lists(lengths: Integers, cost: int, work: Callable[[int, int], object]) -> None:
    """Call ``work(begin, end)`` for ranges of lists on several threads.

    Args:
        lengths: int array of shape (lists,), the number of documents of each.
        cost: steps for one document.
        work: function of the first list of a range and the one after its last.
    """
    workers.run(work, workers.chunks_of(lengths.astype(np.float64) * cost, threads()))


def check_starts(starts: ArrayLike, documents: int) -> Integers:
    """Check that offsets begin at 0, end at the number of documents and never decrease; return them as int64."""
    offsets = numbers(starts, "starts", "int64")
    if offsets.ndim != 1 or offsets.size == 0:
        raise DataError(f"starts must be one row of offsets, one a query and the total last; got shape {offsets.shape}")
    if offsets[0] != 0:
        raise DataError(f"starts must begin with 0, got {offsets[0]}")
    if offsets[-1] != documents:
        raise DataError(
            f"starts must end with the number of documents, {documents}, got {offsets[-1]}"
            " (starts has one entry a query and one more at the end)"
        )
    steps = offsets[1:] - offsets[:-1]
    if steps.size and np.minimum.reduce(steps) < 1:
        query = int(np.argmin(steps))
        raise DataError(f"query number {query} has {steps[query]} documents in starts; every query needs at least one")
    return offsets


def starts_of(query_ids: ArrayLike) -> Integers:
    """Return offsets from one query id a document; the documents of a query must lie together.

    >>> starts_of([7, 7, 3, 3, 3]).tolist()
    [0, 2, 5]
    """
    ids = identifiers(query_ids, "query ids")
    if ids.size == 0:
        return np.zeros(1, np.int64)
    changes = np.flatnonzero(ids[1:] != ids[:-1]) + 1
    starts = np.concatenate(([0], changes, [ids.size])).astype(np.int64)
    heads = ids[starts[:-1]]
    queries = distinct(heads, "query ids")
    if queries.values.size != heads.size:
        repeated = queries.values[np.argmax(queries.counts > 1)]
        where = np.flatnonzero(heads == repeated)
        raise DataError(
            f"query id {repeated!s} stands in two places, at document {starts[where[0]]} and again at document"
            f" {starts[where[1]]}; sort the documents by query"
        )
    return starts


def check_labels(labels: NDArray[Any], where: str = "") -> None:
    """Raise an error if a label is not a finite number of zero or more."""
    bad = np.flatnonzero(~(np.isfinite(labels) & (labels >= 0)))
    if bad.size:
        raise DataError(
            f"label {labels[bad[0]]} of document {bad[0]}{where} is not a finite number of zero or more"
            f" ({bad.size} such)"
        )


def checked_features(
    names: Sequence[str], categorical: Sequence[int], features: int
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the names of features, one a column or none, and the positions of the categorical ones, in order."""
    if isinstance(names, str) or not isinstance(names, Iterable) or not isinstance(categorical, Iterable):
        raise DataError(
            f"feature_names is a list of texts and categorical one of numbers, got {shown(names)} and"
            f" {shown(categorical)}"
        )
    named = tuple(map(str, names))
    if named and len(named) != features:
        raise DataError(f"there are {features} features, but {len(named)} feature names")
    if len(set(named)) != len(named):
        repeated = next(name for name in named if named.count(name) > 1)
        raise DataError(f"two features have the name {repeated}; every feature needs a name of its own")
    positions = tuple(
        sorted({whole_number(position, "the position of a categorical feature") for position in categorical})
    )
    if positions and positions[-1] >= features:
        raise DataError(f"categorical names the feature {positions[-1]}; there are {features}, counted from 0")
    return named, positions


def check_clicks(clicks: Any) -> None:
    """Raise an error where clicks are something else than counts or None."""
    if clicks is not None and not isinstance(clicks, ClickCounts):
        raise DataError(f"clicks must be rankplug.Clicks, such as rankplug.Clicks.from_log makes, got {shown(clicks)}")


def _checked_parts(parts: Any) -> list[Lists]:
    """Return the lists to be joined; raise where there are none, or something else."""
    parts = list(parts) if isinstance(parts, Iterable) and not isinstance(parts, Lists) else [parts]
    if not parts:
        raise DataError("nothing to concatenate")
    if wrong := [part for part in parts if not isinstance(part, Lists)]:
        raise DataError(f"a list of rankplug.Lists can be concatenated, not {shown(wrong[0])}")
    return parts


def ranges(firsts: Integers, lengths: Integers) -> Integers:
    """Return the numbers of several ranges, one after another.

    >>> ranges(np.array([10, 0]), np.array([3, 2])).tolist()
    [10, 11, 12, 0, 1]
    """
    return np.repeat(firsts - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))


def _rows(arrays: Sequence[NDArray[Any]], rows: NDArray[Any]) -> NDArray[Any]:
    """Return rows of several arrays, counted from the first to the last; each is copied once."""
    if len(arrays) == 1:
        return arrays[0][rows]
    joined = np.empty((len(rows), *arrays[0].shape[1:]), np.result_type(*arrays))
    bounds = np.cumsum([0, *map(len, arrays)]).tolist()
    for begin in range(0, len(rows), ROWS_AT_ONCE):
        block = rows[begin : begin + ROWS_AT_ONCE]
        for array, (first, last) in zip(arrays, itertools.pairwise(bounds), strict=True):
            inside = (block >= first) & (block < last)
            joined[begin : begin + ROWS_AT_ONCE][inside] = array[block[inside] - first]
    return joined


def _random_order(count: int, seed: int | np.random.Generator) -> Integers:
    generator = seed if isinstance(seed, np.random.Generator) else np.random.default_rng(whole_number(seed, "seed"))
    return generator.permutation(count)
