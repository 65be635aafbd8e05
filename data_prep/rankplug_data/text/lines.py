"""The compiled reader of lines such as ``2 qid:10 1:0.5 3:NULL 7:1e-3 # docid = GX1``.

It fills arrays that the caller has made, never raises and holds no lock, so that several threads read at once. What is
wrong with a line, and numbers that only ``float`` can round, come back in tables.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from rankplug.compiled import ArrayFunction
from rankplug_data.text.decimals import MOST_DIGITS, nearest_double
from rankplug_data.text.digits import POWERS_OF_TEN, ZERO, letter_at, read_digits

NEWLINE, TAB, RETURN, SPACE = 10, 9, 13, 32
HASH, PLUS, MINUS, POINT, NINE, COLON = 35, 43, 45, 46, 57, 58

FINE, LABEL, QUERY, FEATURE, VALUE, TOO_SMALL, TOO_LARGE, TWICE = range(8)
"""Problems of a line."""

LINES, BROKEN, WAITING, WIDEST = range(4)
"""Counters kept while reading."""

ROUNDED, DIFFICULT, WRONG = range(3)
"""Outcomes of reading a number."""

_QID = (113, 105, 100, 58)


@njit(nogil=True, inline="always")
def _is_gap(letter: int) -> bool:
    return letter in (SPACE, TAB, RETURN)


@njit(nogil=True, inline="always")
def _ends_word(letter: int) -> bool:
    return letter in (SPACE, NEWLINE, TAB, RETURN, HASH)


@njit(nogil=True)
def _spells(at: int, word: bytes) -> bool:
    """Tell whether the text reads ``word`` here, in either case; a line always ends before the text does."""
    for offset in range(len(word)):
        if letter_at(at + offset) | 32 != word[offset]:
            return False
    return _ends_word(letter_at(at + len(word)))


@njit(nogil=True)
def _read_word(at: int, sign: float) -> tuple[float, int, int]:
    """Read a value that is no number: ``NULL`` and ``nan`` are missing, ``inf`` is infinite."""
    if _spells(at, b"null"):
        return math.nan, at + 4, ROUNDED
    if _spells(at, b"nan"):
        return math.nan, at + 3, ROUNDED
    if _spells(at, b"inf"):
        return sign * math.inf, at + 3, ROUNDED
    return 0.0, at, WRONG


@njit(nogil=True)
def read_number(start: int, end: int) -> tuple[float, int, int]:
    """Read the number that starts here; return it, where it ends, and how the reading ended."""
    at = start
    sign = 1.0
    if letter_at(at) == MINUS:
        sign = -1.0
        at += 1
    elif letter_at(at) == PLUS:
        at += 1
    first = at
    mantissa, at = read_digits(first, end)
    digits = at - first
    power = 0
    long_exponent = False
    if letter_at(at) == POINT:
        point = at + 1
        fraction, at = read_digits(point, end)
        power = point - at
        mantissa = mantissa * POWERS_OF_TEN[min(-power, MOST_DIGITS)] + fraction
        digits -= power
    if digits == 0:
        return _read_word(first, sign)
    if letter_at(at) | 32 == 101:
        at += 1
        negative = letter_at(at) == MINUS
        if negative or letter_at(at) == PLUS:
            at += 1
        exponent_first = at
        exponent, at = read_digits(exponent_first, end)
        if at == exponent_first:
            return 0.0, at, WRONG
        long_exponent = at - exponent_first > MOST_DIGITS
        power += -exponent if negative else exponent
    if not _ends_word(letter_at(at)):
        return 0.0, at, WRONG
    if long_exponent:
        return 0.0, at, DIFFICULT
    if digits > MOST_DIGITS and _significant_digits(first, at) > MOST_DIGITS:
        return 0.0, at, DIFFICULT
    if power == 0 and digits <= 15:
        return sign * mantissa, at, ROUNDED
    value, rounded = nearest_double(mantissa, power)
    return sign * value, at, ROUNDED if rounded else DIFFICULT


@njit(nogil=True)
def _significant_digits(first: int, end: int) -> int:
    """Count the digits from the first that is not zero to the exponent."""
    counted = 0
    for at in range(first, end):
        letter = letter_at(at)
        if ZERO <= letter <= NINE:
            if counted or letter != ZERO:
                counted += 1
        elif letter != POINT:
            break
    return counted


@njit(nogil=True)
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
    if not 0 < at - first_digit <= MOST_DIGITS or not _ends_word(letter_at(at)):
        return 0, -1
    return (-query if negative else query), at


@njit(nogil=True, inline="always")
def _leave_to_float(difficult: np.ndarray, state: np.ndarray, row: int, column: int, begin: int, end: int) -> None:
    waiting = state[WAITING]
    difficult[waiting, 0], difficult[waiting, 1] = row, column
    difficult[waiting, 2], difficult[waiting, 3] = begin, end
    state[WAITING] = waiting + 1


@njit(nogil=True)
def _read_features(
    at: int,
    end: int,
    first_feature: int,
    most_features: int,
    row: int,
    values: np.ndarray,
    stamp: np.ndarray,
    difficult: np.ndarray,
    state: np.ndarray,
) -> tuple[int, int]:
    """Fill one row up to the comment or the end of the line; return where it stopped, and what is wrong."""
    while True:
        while _is_gap(letter_at(at)):
            at += 1
        word = at
        feature, at = read_digits(word, end)
        if letter_at(at) != COLON or not 0 < at - word <= MOST_DIGITS:
            over = at == word and (letter_at(at) == NEWLINE or letter_at(at) == HASH)
            return word, FINE if over else FEATURE
        column = feature - first_feature
        if column < 0 or column >= most_features:
            return word, TOO_SMALL if column < 0 else TOO_LARGE
        number = at + 1
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


@njit(nogil=True)
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
    while _is_gap(letter_at(at)):
        at += 1
    query, after = _read_query(at, end)
    if after < 0:
        return at, QUERY
    queries[row] = query
    values[:] = 0.0
    return _read_features(after, end, first_feature, most_features, row, values, stamp, difficult, state)


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
    origin = text.ctypes.data
    at, end = origin + begin, origin + text.size
    while at < end:
        line = at
        while _is_gap(letter_at(at)):
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
