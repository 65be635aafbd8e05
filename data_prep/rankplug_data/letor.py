"""LETOR and SVMlight text as arrays, a block of lines at a time.

A line is ``label qid:query feature:value ... # comment``. Features may come in any order; one that is absent is 0,
``NULL`` and ``nan`` are missing values. A document's name is what follows ``docid =`` in the comment, or else the
comment. Each value is ``np.float32(float(text))``, as scikit-learn reads it.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction, part
from rankplug.data import Lists
from rankplug.errors import DataError
from rankplug.system import threads
from rankplug_data.archives import NEWLINE, Block, blocks_of_file

OnError = Literal["raise", "skip"]

MOST_FEATURES = 100_000
"""Number of columns above which a feature's number is taken for a mistake."""
LARGEST_BLOCK = 1 << 28
"""Bytes of the features of one block of text, above which wide and nearly empty lines are refused."""
LONGEST_NAME, LISTED_PROBLEMS = 64, 20

SPACE, TAB, RETURN, HASH, COLON = 32, 9, 13, 35, 58
PLUS, MINUS, POINT, ZERO, NINE, EQUALS, LETTER_E = 43, 45, 46, 48, 57, 61, 101
NULL, NAN, INF, QID, DOCID = (np.frombuffer(word, np.uint8) for word in (b"null", b"nan", b"inf", b"qid:", b"docid"))
LARGEST_MANTISSA, MOST_DIGITS = 10**17, 18
LARGEST_POWER = 300
POWERS = np.array([float(f"1e{power}") for power in range(-LARGEST_POWER, LARGEST_POWER + 1)])
ROUNDING = 1e-15
"""Relative error of a number that is computed from its digits is below this."""

READ, UNSURE, WRONG = range(3)
FINE, LABEL, QUERY, FEATURE, VALUE, TOO_SMALL, TOO_LARGE, TWICE = range(8)
EXPECTED = {
    LABEL: "a label, which is a number of zero or more",
    QUERY: "qid: and a whole number",
    FEATURE: "feature:value, where the feature is a whole number",
    VALUE: "a number or NULL",
    TOO_SMALL: "a feature's number of at least {first}",
    TOO_LARGE: "a feature's number of at most {last}",
    TWICE: "each feature once",
}
LINES, BROKEN, WIDEST, UNSURE_FROM = range(4)
"""Counters of the compiled reader."""


@part(nogil=True, inline="always")
def _digit(text, at):
    # An index without a sign spares the test for counting from the end.
    return np.int64(text[np.uintp(at)]) - ZERO


@part(nogil=True, inline="always")
def _is_gap(letter):
    return letter in (SPACE, TAB, RETURN)


@part(nogil=True, inline="always")
def _ends_word(letter):
    return letter in (SPACE, NEWLINE, TAB, RETURN, HASH)


@part(nogil=True)
def _skip_gaps(text, at):
    while _is_gap(text[at]):
        at += 1
    return at


@part(nogil=True)
def _spells(text, at, word, fold):
    """Return whether the text continues with a word, in either case if ``fold`` is 32; a newline ends the search."""
    for offset in range(word.size):  # noqa: SIM110
        if text[at + offset] | fold != word[offset]:
            return False
    return True


@part(nogil=True)
def _read_whole(text, at):
    """Read at most 18 digits; return their number, and where they end."""
    value: Any = 0
    first = at
    digit = _digit(text, at)
    while 0 <= digit <= 9 and at - first < MOST_DIGITS:
        value = value * 10 + digit
        at += 1
        digit = _digit(text, at)
    return value, at


@part(nogil=True)
def _read_word(text, at, sign):
    """Read a value that is no number: ``NULL`` and ``nan`` are missing, ``inf`` is infinite."""
    for word, value in ((NULL, math.nan), (NAN, math.nan), (INF, sign * math.inf)):
        if _spells(text, at, word, 32) and _ends_word(text[at + word.size]):
            return value, at + word.size, READ
    return 0.0, at, WRONG


@part(nogil=True)
def read_number(text, at):
    """Read the number that starts here; return it, where it ends, and whether it is one whose float32 is certain."""
    sign = -1.0 if text[at] == MINUS else 1.0
    at += text[at] == MINUS or text[at] == PLUS
    mantissa: Any = 0
    first, power = at, 0
    digit = _digit(text, at)
    while 0 <= digit <= 9:
        if mantissa < LARGEST_MANTISSA:
            mantissa = mantissa * 10 + digit
        else:
            power += 1
        at += 1
        digit = _digit(text, at)
    pointed = text[at] == POINT
    if pointed:
        at += 1
        digit = _digit(text, at)
        while 0 <= digit <= 9:
            if mantissa < LARGEST_MANTISSA:
                mantissa = mantissa * 10 + digit
                power -= 1
            at += 1
            digit = _digit(text, at)
    if at - first == pointed:
        return _read_word(text, first, sign)
    if text[at] | 32 == LETTER_E:
        negative = text[at + 1] == MINUS
        begin = at + 1 + (negative or text[at + 1] == PLUS)
        exponent, at = _read_whole(text, begin)
        if at == begin:
            return 0.0, at, WRONG
        power += -exponent if negative else exponent
    if not _ends_word(text[at]):
        return 0.0, at, WRONG
    if mantissa < 1 << 53 and -22 <= power <= 22:
        # Mantissa and power are exact as float64, so that one operation rounds correctly.
        if power < 0:
            return sign * (mantissa / POWERS[LARGEST_POWER - power]), at, READ
        return sign * (mantissa * POWERS[LARGEST_POWER + power]), at, READ
    if mantissa == 0 or abs(power) > LARGEST_POWER:
        return sign * (math.inf if mantissa and power > 0 else 0.0), at, READ
    value = mantissa * POWERS[LARGEST_POWER + power]
    certain = np.float32(value * (1 - ROUNDING)) == np.float32(value * (1 + ROUNDING))
    return sign * value, at, READ if certain else UNSURE


@part(nogil=True)
def _read_document(text, at, first_feature, most_features, row, values, labels, places, stamps, counters):
    """Read a line up to its comment; return where it stopped, what is wrong, and whether a number is unsure."""
    begin = at
    labels[row], at, status = read_number(text, at)
    if status == WRONG or not 0.0 <= labels[row] < math.inf or text[begin] == MINUS:
        return begin, LABEL, False
    unsure = status == UNSURE
    word = _skip_gaps(text, at)
    digits = word + QID.size
    if not _spells(text, word, QID, 0):
        return word, QUERY, False
    query, at = _read_whole(text, digits + (text[digits] == MINUS))
    if not (ZERO <= text[at - 1] <= NINE and _ends_word(text[at])):
        return word, QUERY, False
    places[row, 0] = -query if text[digits] == MINUS else query
    values[:] = 0.0
    while True:
        word = _skip_gaps(text, at)
        feature, at = _read_whole(text, word)
        if at == word or text[at] != COLON:
            return word, FINE if at == word and text[at] in (NEWLINE, HASH) else FEATURE, unsure
        column = feature - first_feature
        if column < 0 or column >= most_features:
            return word, TOO_SMALL if column < 0 else TOO_LARGE, False
        begin = at + 1
        value, at, status = read_number(text, begin)
        if status == WRONG:
            return begin, VALUE, False
        unsure |= status == UNSURE
        if column >= values.size:
            counters[WIDEST] = max(counters[WIDEST], column + 1)
        elif stamps[column] == row:
            return word, TWICE, False
        else:
            stamps[column] = row
            values[column] = value


@part(nogil=True)
def _find_name(text, begin, end):
    """Return where the name in a comment begins and ends."""
    for at in range(begin, end - DOCID.size):
        if _spells(text, at, DOCID, 32):
            equals = _skip_gaps(text, at + DOCID.size)
            if text[equals] == EQUALS:
                begin = _skip_gaps(text, equals + 1)
                end = begin
                while text[end] > SPACE:
                    end += 1
                return begin, end
    while begin < end and text[begin] <= SPACE:
        begin += 1
    while end > begin and text[end - 1] <= SPACE:
        end -= 1
    return begin, end


@ArrayFunction
def read_lines(text, at, first_feature, most_features, row, features, labels, places, problems, counters):
    """Read lines of a text, which ends with a newline, from ``at`` on into the rows from ``row`` on.

    Features beyond the width of ``features`` are only counted. ``places`` has the query, the line, and begin and end of
    the name of each document; ``problems`` the line, its begin, place and kind of what is wrong, as many as fit.

    Returns:
        Where it stopped, and the next free row. It stops at the end, and after a line with a number that only ``float``
        can round; this line's begin is in ``counters``.
    """
    stamps = np.full(features.shape[1], -1, np.int64)
    counters[UNSURE_FROM] = -1
    while at < text.size and counters[UNSURE_FROM] < 0:
        line = at
        at = _skip_gaps(text, at)
        wrong, unsure = -1, False
        if text[at] not in (NEWLINE, HASH):
            widest = counters[WIDEST]
            at, wrong, unsure = _read_document(
                text, at, first_feature, most_features, row, features[row], labels, places, stamps, counters
            )
            if wrong != FINE:
                stamps[:] = -1
                counters[WIDEST] = widest
                if counters[BROKEN] < problems.shape[0]:
                    problem = problems[counters[BROKEN]]
                    problem[0], problem[1], problem[2], problem[3] = counters[LINES], line, at, wrong
                counters[BROKEN] += 1
        comment = at + 1
        while text[at] != NEWLINE:
            at += 1
        if wrong == FINE:
            places[row, 1] = counters[LINES]
            places[row, 2], places[row, 3] = _find_name(text, min(comment, at), at)
            counters[UNSURE_FROM] = line if unsure else -1
            row += 1
        at += 1
        counters[LINES] += 1
    return at, row


@dataclass(frozen=True)
class Columns:
    """Number of the first column, 1 in LETOR's files, and of columns; None where the highest in the text decides."""

    first: int = 1
    count: int | None = None

    @property
    def most(self) -> int:
        return MOST_FEATURES if self.count is None else self.count


@dataclass
class SkippedLines:
    """The lines that were left out: their number, and sentences about the first of them."""

    count: int = 0
    sentences: list[str] = field(default_factory=list)

    def add(self, sentences: list[str], count: int) -> None:
        self.count += count
        self.sentences += sentences[: LISTED_PROBLEMS - len(self.sentences)]


@dataclass
class Documents:
    """The documents of a block, its number of lines, and what is wrong with some of them."""

    features: NDArray[np.float32]
    labels: NDArray[np.float32]
    queries: NDArray[np.int64]
    lines: NDArray[np.int64]
    names: NDArray[np.str_]
    lines_of_block: int
    broken: int
    problems: list[tuple[int, str]]


def read(
    path: str | Path, *, first_feature: int = 1, features: int | None = None, on_error: OnError = "raise"
) -> Lists:
    """Read the lists of one text file, which may be compressed, into memory.

    Args:
        path: the file.
        first_feature: number of the first column.
        features: number of columns; the highest in the text when absent.
        on_error: ``skip`` leaves broken lines out.
    """
    return join(blocks_of_file(Path(path)), str(path), Columns(first_feature, features), on_error)


def join(text: Iterable[Block], source: str, columns: Columns | None = None, on_error: OnError = "raise") -> Lists:
    """Read the lists of the blocks of a text into memory."""
    blocks = list(documents_of(text, source, columns or Columns(), on_error, SkippedLines()))
    labels, queries, names = join_columns(blocks, source)
    matrix = np.zeros((labels.size, max(block.features.shape[1] for block in blocks)), np.float32)
    end = labels.size
    while blocks:
        # From the end, so that each block is released as soon as it is copied.
        block = blocks.pop().features
        matrix[end - block.shape[0] : end, : block.shape[1]] = block
        end -= block.shape[0]
    starts = np.concatenate([[0], np.flatnonzero(np.diff(queries)) + 1, [labels.size]])
    return Lists(matrix, labels, starts, queries[starts[:-1]], names if (names != "").any() else None, source)


def join_columns(blocks: list[Documents], source: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return labels, queries and names of all documents of a text."""
    if not any(block.labels.size for block in blocks):
        raise DataError(f"{source} holds no document: it is empty, or has nothing but blank lines and comments")
    labels, queries, names = (
        np.concatenate([getattr(block, column) for block in blocks]) for column in ("labels", "queries", "names")
    )
    return labels, queries, names


def documents_of(
    blocks: Iterable[Block], name: str, columns: Columns, on_error: OnError, skipped: SkippedLines
) -> Iterator[Documents]:
    """Yield the documents of each block, read on all threads, in order; queries must not stand in two places."""
    ended: dict[int, int] = {}
    current, last_line, before = None, 0, 0
    for documents in _in_parallel(blocks, columns, name):
        if documents.broken:
            sentences = [f"{name}, line {before + line + 1}: {sentence}" for line, sentence in documents.problems]
            if on_error == "raise":
                raise DataError(f"{sentences[0]}; --on-error skip leaves such lines out")
            skipped.add(sentences, documents.broken)
        queries, lines = documents.queries, documents.lines + before + 1
        before += documents.lines_of_block
        intact = np.ones(queries.size, np.bool_)
        heads = np.flatnonzero(np.diff(queries, prepend=queries[:1] - 1)).tolist()
        for begin, end in itertools.pairwise([*heads, queries.size]):
            query = int(queries[begin])
            if query != current and query in ended:
                sentence = f"{name}, line {lines[begin]}: query {query} stands in two places, it ended at line"
                sentence = f"{sentence} {ended[query]}"
                if on_error == "raise":
                    raise DataError(f"{sentence}; sort the lines by query, or --on-error skip leaves the second out")
                skipped.add([f"{sentence} ({end - begin} lines)"], end - begin)
                intact[begin:end] = False
                continue
            if query != current and current is not None:
                ended[current] = last_line
            current, last_line = query, int(lines[end - 1])
        if not intact.all():
            columns_of = ("features", "labels", "queries", "names")
            documents = replace(documents, **{column: getattr(documents, column)[intact] for column in columns_of})
        yield documents


def _in_parallel(blocks: Iterable[Block], columns: Columns, name: str) -> Iterator[Documents]:
    """Read as many blocks at once as there are threads; the first alone, as it usually has all columns."""
    width: int | None = None
    waiting: deque[Future[Documents]] = deque()
    with ThreadPoolExecutor(threads()) as pool:
        for block in blocks:
            waiting.append(pool.submit(_read_block, block, columns, width or columns.count or 0, name))
            del block
            if width is None or len(waiting) > threads():
                documents = waiting.popleft().result()
                width = max(width or 0, documents.features.shape[1])
                yield documents
                del documents
        while waiting:
            yield waiting.popleft().result()


def _read_block(block: Block, columns: Columns, width: int, name: str) -> Documents:
    """Read one block, and again if it has a feature beyond the expected columns."""
    rows = int(np.count_nonzero(block == NEWLINE))
    if 4 * rows * width > LARGEST_BLOCK:
        raise DataError(
            f"{name}: its lines are nearly empty, so that {width:,} columns would take"
            f" {4 * rows * width // block.size:,} times the memory of the text; number the features without gaps"
        )
    features, labels = np.empty((rows, width), np.float32), np.empty(rows, np.float32)
    places, problems = np.empty((rows, 4), np.int64), np.empty((LISTED_PROBLEMS, 4), np.int64)
    counters = np.zeros(4, np.int64)
    at, row = 0, 0
    while at < block.size:
        at, row = read_lines(block, at, columns.first, columns.most, row, features, labels, places, problems, counters)
        if (begin := counters[UNSURE_FROM]) >= 0:
            label, _, *words = block[begin:at].tobytes().partition(b"#")[0].split()
            labels[row - 1] = float(label)
            for feature, value in (word.split(b":") for word in words):
                if (column := int(feature) - columns.first) < width and value.lower() != b"null":
                    with np.errstate(over="ignore"):
                        features[row - 1, column] = float(value)
    lines, broken, widest, _ = counters.tolist()
    if widest > width:
        return _read_block(block, columns, widest, name)
    sentences = [_sentence(block, problem, columns) for problem in problems[: min(broken, LISTED_PROBLEMS)].tolist()]
    queries, numbers, begins, ends = np.ascontiguousarray(places[:row].T)
    names = _texts(block, begins, ends)
    return Documents(features[:row], labels[:row], queries, numbers, names, lines, broken, sentences)


def _texts(block: Block, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.str_]:
    """Return the first letters of the texts between begins and ends."""
    lengths = np.minimum(ends - begins, LONGEST_NAME)
    offsets = np.arange(max(int(lengths.max(initial=0)), 1))
    letters = block[np.minimum(begins[:, None] + offsets, block.size - 1)]
    letters[offsets >= lengths[:, None]] = 0
    texts = letters.view(f"S{offsets.size}").ravel()
    # Decoding takes half as long as reading the numbers.
    return texts.astype(np.str_) if (letters < 128).all() else np.strings.decode(texts, "utf-8", "replace")


def _sentence(block: Block, problem: list[int], columns: Columns) -> tuple[int, str]:
    line, begin, at, kind = problem
    expected = EXPECTED[kind].format(first=columns.first, last=columns.first + columns.most - 1)
    text = _cut(block[begin : begin + 100_000].tobytes().split(b"\n", 1)[0], 80)
    words = block[at : at + 100].tobytes().split(b"\n", 1)[0].split(maxsplit=1)
    what = repr(_cut(words[0], 24)) if words else "the end of the line"
    return line, f"expected {expected}, found {what} in {text!r}"


def _cut(text: bytes, length: int) -> str:
    letters = text.decode("utf-8", "replace").rstrip("\r")
    return letters if len(letters) <= length else letters[: length - 3] + "..."
