"""The compiled reader of lines such as ``2 qid:10 1:0.5 3:NULL 7:1e-3 # docid = GX1``.

It fills arrays that the caller has made, never raises and holds no lock, so that several threads read at once. What is
wrong with a line, and numbers that only ``float`` can round, come back in tables.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import ArrayFunction, part
from rankplug_data.text.decimals import MOST_DIGITS
from rankplug_data.text.digits import ZERO, letter_at, read_digits, word_at
from rankplug_data.text.numerals import DIFFICULT, HASH, MINUS, NEWLINE, WRONG, ends_word, is_gap, read_number

COLON = 58

FINE, LABEL, QUERY, FEATURE, VALUE, TOO_SMALL, TOO_LARGE, TWICE = range(8)
"""Problems of a line."""

LINES, BROKEN, WAITING, WIDEST = range(4)
"""Counters kept while reading."""

LETTERS, MASK, LENGTH = range(3)
"""Parts of a column as it is spelled."""
MOST_SPELLED = 1000
"""Columns that are spelled before a text is read, which is done for each block of it."""

_QID = (113, 105, 100, 58)


@part(nogil=True)
def _read_query(word: int, end: int) -> tuple[int, int]:
    """Read the number after ``qid:``; return it and where it ends, or 0 and -1."""
    for offset in range(len(_QID)):
        if letter_at(word + offset) != _QID[offset]:
            return 0, -1
    at = word + len(_QID)
    negative = letter_at(at) == MINUS
    if negative:
        at += 1
    first_digit = at
    query, at = read_digits(first_digit, end)
    if not 0 < at - first_digit <= MOST_DIGITS or not ends_word(letter_at(at)):
        return 0, -1
    return (-query if negative else query), at


@part(nogil=True, inline="always")
def _leave_to_float(difficult: np.ndarray, state: np.ndarray, row: int, column: int, begin: int, end: int) -> None:
    waiting = state[WAITING]
    difficult[waiting, 0], difficult[waiting, 1] = row, column
    difficult[waiting, 2], difficult[waiting, 3] = begin, end
    state[WAITING] = waiting + 1


@part(nogil=True)
def _spelled_columns(first_feature: int, columns: int) -> np.ndarray:
    """Return what begins the word of each of the first columns, ``12:``, as a 64-bit word, its mask and its length."""
    spelled = np.empty((min(columns, MOST_SPELLED), 3), np.uint64)
    for column in range(spelled.shape[0]):
        feature = first_feature + column
        letters = np.uint64(COLON)
        length = 1
        while length == 1 or feature:
            letters = letters << np.uint64(8) | np.uint64(ZERO + feature % 10)
            feature //= 10
            length += 1
        spelled[column, LETTERS] = letters
        spelled[column, MASK] = ~np.uint64(0) >> np.uint64(64 - 8 * length)
        spelled[column, LENGTH] = length
    return spelled


@part(nogil=True)
def _read_features(
    at: int,
    end: int,
    first_feature: int,
    most_features: int,
    row: int,
    values: np.ndarray,
    stamp: np.ndarray,
    spelled: np.ndarray,
    difficult: np.ndarray,
    state: np.ndarray,
) -> tuple[int, int]:
    """Fill one row up to the comment or the end of the line; return where it stopped, and what is wrong."""
    expected = 0
    while True:
        while is_gap(letter_at(at)):
            at += 1
        word = at
        # Mostly the next column comes next. To compare it is faster than to read it, as the place where the value
        # begins is then known before the letters are.
        if (
            expected < spelled.shape[0]
            and at + 8 <= end
            and word_at(at) & spelled[np.uintp(expected), MASK] == spelled[np.uintp(expected), LETTERS]
        ):
            column = expected
            number = at + int(np.int64(spelled[np.uintp(expected), LENGTH]))
        else:
            feature, at = read_digits(word, end)
            if letter_at(at) != COLON or not 0 < at - word <= MOST_DIGITS:
                over = at == word and (letter_at(at) == NEWLINE or letter_at(at) == HASH)
                return word, FINE if over else FEATURE
            column = feature - first_feature
            if column < 0 or column >= most_features:
                return word, TOO_SMALL if column < 0 else TOO_LARGE
            number = at + 1
        expected = column + 1
        value, at, ended = read_number(number, end)
        if ended == WRONG:
            return number, VALUE
        if column >= values.shape[0]:
            state[WIDEST] = max(state[WIDEST], column + 1)
            continue
        if stamp[np.uintp(column)] == row:
            return word, TWICE
        stamp[np.uintp(column)] = row
        values[np.uintp(column)] = value
        if ended == DIFFICULT:
            _leave_to_float(difficult, state, row, column, number, at)


@part(nogil=True)
def _read_document(
    at: int,
    end: int,
    first_feature: int,
    most_features: int,
    row: int,
    values: np.ndarray,
    labels: np.ndarray,
    queries: np.ndarray,
    stamp: np.ndarray,
    spelled: np.ndarray,
    difficult: np.ndarray,
    state: np.ndarray,
) -> tuple[int, int]:
    """Read a line up to its comment; return where it stopped, and what is wrong."""
    number = at
    label, at, ended = read_number(number, end)
    if ended == WRONG or not 0.0 <= label < math.inf or letter_at(number) == MINUS:
        return number, LABEL
    if ended == DIFFICULT:
        _leave_to_float(difficult, state, row, -1, number, at)
    labels[row] = label
    while is_gap(letter_at(at)):
        at += 1
    query, after = _read_query(at, end)
    if after < 0:
        return at, QUERY
    queries[row] = query
    values[:] = 0.0
    return _read_features(after, end, first_feature, most_features, row, values, stamp, spelled, difficult, state)


@ArrayFunction
def read_lines(
    text: np.ndarray,
    begin: int,
    first_feature: int,
    most_features: int,
    row: int,
    features: np.ndarray,
    labels: np.ndarray,
    queries: np.ndarray,
    line_of_row: np.ndarray,
    comments: np.ndarray,
    problems: np.ndarray,
    difficult: np.ndarray,
    state: np.ndarray,
) -> tuple[int, int]:
    """Read lines from ``begin`` to the end of ``text``, whose last letter is a line end.

    Args:
        text: letters.
        begin: where to start.
        first_feature: the number of the first column, 0 or 1.
        most_features: a feature beyond this many columns is a problem; one between the width of ``features`` and
            this is not stored, and the widest is told in ``state``.
        row: the first free row of the arrays to fill.
        features: one row a document.
        labels: one a document.
        queries: the query's number, one a document.
        line_of_row: number of the document's line in this text, from 0.
        comments: begin and end of the text after ``#``, one a document; equal where there is none.
        problems: line, its begin, place and kind of what is wrong, as many as fit.
        difficult: row, column (-1 is the label), begin and end (addresses) of each number left to
            ``float``.
        state: lines read, broken lines, difficult numbers waiting, widest row; counted on from what is there.

    Returns:
        Where it stopped (before the end only when ``difficult`` may not hold another line), and the next free row.
    """
    stamp = np.full(features.shape[1], -1, np.int64)
    spelled = _spelled_columns(first_feature, features.shape[1])
    origin = text.ctypes.data
    at, end = origin + begin, origin + text.size
    while at < end:
        line = at
        while is_gap(letter_at(at)):
            at += 1
        empty = letter_at(at) == NEWLINE or letter_at(at) == HASH
        if not empty:
            waiting, widest = state[WAITING], state[WIDEST]
            if waiting + features.shape[1] + 1 > difficult.shape[0]:
                return line - origin, row
            at, wrong = _read_document(
                at,
                end,
                first_feature,
                most_features,
                row,
                features[row],
                labels,
                queries,
                stamp,
                spelled,
                difficult,
                state,
            )
            if wrong != FINE:
                stamp[:] = -1
                state[WAITING], state[WIDEST] = waiting, widest
                if state[BROKEN] < problems.shape[0]:
                    problem = problems[state[BROKEN]]
                    problem[0], problem[1], problem[2], problem[3] = state[LINES], line - origin, at - origin, wrong
                state[BROKEN] += 1
        comment = at + 1
        while letter_at(at) != NEWLINE:
            at += 1
        if not empty and wrong == FINE:
            line_of_row[row] = state[LINES]
            comments[row, 0], comments[row, 1] = min(comment, at) - origin, at - origin
            row += 1
        at += 1
        state[LINES] += 1
    return at - origin, row
