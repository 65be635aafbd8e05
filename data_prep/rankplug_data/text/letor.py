"""LETOR and SVMlight text as arrays, a block of lines at a time.

A line is ``label qid:query feature:value ... # comment``. Features may come in any order and may be left out, which
means 0; ``NULL`` and ``nan`` mean a missing value. A document's name is what follows ``docid =`` in the comment, or
else the comment. Values are rounded to the nearest double and then to float32, as scikit-learn does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankplug.data import Lists
from rankplug.errors import DataError
from rankplug.system import threads
from rankplug_data.text import lines
from rankplug_data.text.blocks import BLOCK, NEWLINE, Letters, blocks_of_file
from rankplug_data.text.growing import RowsInMemory
from rankplug_data.text.names import document_names
from rankplug_data.text.queries import QueryOrder

OnError = Literal["raise", "skip"]

MOST_FEATURES = 100_000
"""Columns beyond which a feature's number is taken for a mistake."""
PROBLEMS_KEPT = 20
DIFFICULT_NUMBERS = 4096

EXPECTED = {
    lines.LABEL: "a label, which is a number of zero or more",
    lines.QUERY: "qid: and a whole number",
    lines.FEATURE: "feature:value, where the feature is a whole number",
    lines.VALUE: "a number or NULL",
    lines.TOO_SMALL: "a feature's number of at least {first}",
    lines.TOO_LARGE: "a feature's number of at most {last}",
    lines.TWICE: "each feature once",
}


@dataclass(frozen=True)
class Columns:
    """Numbering of the features of a text.

    Args:
        first: number of the first column, 1 in LETOR's files, 0 in some others.
        count: how many columns; None to take as many as are found.
    """

    first: int = 1
    count: int | None = None

    @property
    def most(self) -> int:
        return MOST_FEATURES if self.count is None else self.count


@dataclass
class SkippedLines:
    """The lines that were left out."""

    count: int = 0
    sentences: list[str] = field(default_factory=list)

    def add(self, sentence: str, count: int = 1) -> None:
        self.count += count
        if len(self.sentences) < PROBLEMS_KEPT:
            self.sentences.append(sentence)


@dataclass
class Documents:
    """The documents of some lines."""

    features: NDArray[np.float32]
    labels: NDArray[np.float32]
    queries: NDArray[np.int64]
    lines: NDArray[np.int64]
    names: NDArray[np.str_] | None

    def without_features(self) -> Documents:
        """Return the documents without features, which is small; nothing of the block's memory is held."""
        return Documents(np.empty((0, 0), np.float32), self.labels, self.queries, self.lines[:0], self.names)

    def chosen(self, keep: NDArray[np.bool_]) -> Documents:
        """Return some of the documents."""
        names = None if self.names is None else self.names[keep]
        return Documents(self.features[keep], self.labels[keep], self.queries[keep], self.lines[keep], names)


@dataclass
class _Read:
    """Result of reading a block: its documents, its number of lines, and what was wrong with some."""

    documents: Documents
    lines: int
    broken: int
    problems: list[tuple[int, str]]


def read(
    path: str | Path, *, first_feature: int = 1, features: int | None = None, on_error: OnError = "raise"
) -> Lists:
    """Read the lists of one text file into memory.

    Args:
        path: the file, which may be compressed with gzip, bzip2 or xz.
        first_feature: number of the first column.
        features: number of columns; as many as are found when absent.
        on_error: ``skip`` leaves broken lines out.
    """
    path = Path(path)
    rows = RowsInMemory()
    parts: list[Documents] = []
    skipped = SkippedLines()
    size = path.stat().st_size if path.is_file() else 0
    columns = Columns(first_feature, features)
    for documents in documents_of(blocks_of_file(path), str(path), columns, on_error, skipped):
        if not parts:
            rows.reserve(int(documents.labels.size * max(1.02 * size / BLOCK, 1)), documents.features.shape[1])
        rows.append(documents.features)
        parts.append(documents.without_features())
    return assemble(rows.finish(), parts, str(path))


def assemble(features: NDArray[np.float32], parts: list[Documents], source: str) -> Lists:
    """Return the lists of a text's documents, once their features are together."""
    labels, query_of_document, names = columns_of(parts, source)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(query_of_document)) + 1, [labels.size]])
    return Lists(features, labels, starts, query_of_document[starts[:-1]], names, source)


def columns_of(
    parts: list[Documents], source: str
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.str_] | None]:
    """Return labels, queries and names of all documents of a text; the names are None when no document has one."""
    if not any(part.labels.size for part in parts):
        raise DataError(f"{source} holds no document: it is empty, or has nothing but blank lines and comments")
    labels = np.concatenate([part.labels for part in parts])
    queries = np.concatenate([part.queries for part in parts])
    if all(part.names is None for part in parts):
        return labels, queries, None
    names = [np.zeros(part.labels.size, "U1") if part.names is None else part.names for part in parts]
    return labels, queries, np.concatenate(names)


def documents_of(
    blocks: Iterable[Letters], name: str, columns: Columns, on_error: OnError, skipped: SkippedLines
) -> Iterator[Documents]:
    """Yield the documents of each block, read by all threads, in order; each block is as wide as any before it."""
    order = QueryOrder(name)
    before = 0
    for result in _in_parallel(blocks, columns):
        if result.broken:
            sentences = [f"{name}, line {before + line + 1}: {sentence}" for line, sentence in result.problems]
            if on_error == "raise":
                raise DataError(f"{sentences[0]}; --on-error skip leaves such lines out")
            for sentence in sentences:
                skipped.add(sentence)
            skipped.count += result.broken - len(sentences)
        documents = result.documents
        documents.lines += before + 1
        keep = order.keep(documents.queries, documents.lines, on_error, skipped)
        yield documents if keep.all() else documents.chosen(keep)
        before += result.lines


def _in_parallel(blocks: Iterable[Letters], columns: Columns) -> Iterator[_Read]:
    """Read as many blocks at once as there are threads; the first alone, as it mostly tells the width."""
    width: int | None = None
    waiting: deque[Future[_Read]] = deque()
    with ThreadPoolExecutor(threads()) as pool:
        for block in blocks:
            waiting.append(pool.submit(_read_block, block, columns, width or columns.count or 0))
            # Only the thread that reads it holds it now.
            del block
            if width is None or len(waiting) > threads():
                result = waiting.popleft().result()
                width = max(width or 0, result.documents.features.shape[1])
                yield result
                del result
        while waiting:
            yield waiting.popleft().result()


def _read_block(block: Letters, columns: Columns, width: int) -> _Read:
    """Read one block, and again if a feature turns up beyond the columns that were expected."""
    rows = int(np.count_nonzero(block == NEWLINE))
    while True:
        features = np.empty((rows, width), np.float32)
        labels = np.empty(rows, np.float64)
        queries, line_of_row = np.empty(rows, np.int64), np.empty(rows, np.int64)
        comments = np.empty((rows, 2), np.int64)
        problems = np.empty((PROBLEMS_KEPT, 4), np.int64)
        difficult = np.empty((DIFFICULT_NUMBERS + width + 1, 4), np.int64)
        state = np.zeros(4, np.int64)
        at, row = 0, 0
        while at < block.size:
            at, row = lines.read_lines(
                block, at, columns.first, columns.most, row, features, labels, queries, line_of_row, comments,
                problems, difficult, state,
            )  # fmt: skip
            _round_difficult(block, difficult[: state[lines.WAITING]], features, labels)
            state[lines.WAITING] = 0
        if state[lines.WIDEST] <= width:
            break
        width = int(state[lines.WIDEST])
    documents = Documents(
        features[:row],
        labels[:row].astype(np.float32),
        queries[:row],
        line_of_row[:row],
        document_names(block, comments[:row]),
    )
    broken = int(state[lines.BROKEN])
    sentences = [_sentence(block, problem, columns) for problem in problems[: min(broken, PROBLEMS_KEPT)]]
    return _Read(documents, int(state[lines.LINES]), broken, sentences)


def _round_difficult(block: Letters, difficult: NDArray[np.int64], features: Any, labels: Any) -> None:
    origin = block.ctypes.data
    for row, column, begin, end in difficult.tolist():
        value = float(block[begin - origin : end - origin].tobytes())
        if column < 0:
            labels[row] = value
        else:
            with np.errstate(over="ignore"):
                features[row, column] = value


def _sentence(block: Letters, problem: NDArray[np.int64], columns: Columns) -> tuple[int, str]:
    line, begin, at, kind = (int(value) for value in problem)
    expected = EXPECTED[kind].format(first=columns.first, last=columns.first + columns.most - 1)
    text = _cut(block[begin : begin + 100_000].tobytes().split(b"\n", 1)[0], 80)
    words = block[at : at + 100].tobytes().split(b"\n", 1)[0].split(maxsplit=1)
    what = repr(_cut(words[0], 24)) if words else "the end of the line"
    return line, f"expected {expected}, found {what} in {text!r}"


def _cut(text: bytes, length: int) -> str:
    letters = text.decode("utf-8", "replace").rstrip("\r")
    return letters if len(letters) <= length else letters[: length - 3] + "..."
