"""Numbers as they are written in ranking data: plain decimals mostly, exponents, and words such as ``NULL``."""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled import part
from rankplug_data.text.decimals import EXACT_POWERS, MOST_DIGITS, nearest_double
from rankplug_data.text.digits import POWERS_OF_TEN, ZERO, letter_at, read_digits, read_short_digits

NEWLINE, TAB, RETURN, SPACE = 10, 9, 13, 32
HASH, PLUS, MINUS, POINT, NINE = 35, 43, 45, 46, 57

ROUNDED, DIFFICULT, WRONG = range(3)
"""Outcomes of reading a number."""


@part(nogil=True, inline="always")
def is_gap(letter: int) -> bool:
    """Tell whether a letter stands between words."""
    return letter in (SPACE, TAB, RETURN)


@part(nogil=True, inline="always")
def ends_word(letter: int) -> bool:
    """Tell whether a letter stands behind a word."""
    return letter in (SPACE, NEWLINE, TAB, RETURN, HASH)


@part(nogil=True)
def _spells(at: int, word: bytes) -> bool:
    """Tell whether the text reads ``word`` here, in either case; a line always ends before the text does."""
    for offset in range(len(word)):
        if letter_at(at + offset) | 32 != word[offset]:
            return False
    return ends_word(letter_at(at + len(word)))


@part(nogil=True)
def _read_word(at: int, sign: float) -> tuple[float, int, int]:
    """Read a value that is no number: ``NULL`` and ``nan`` are missing, ``inf`` is infinite."""
    if _spells(at, b"null"):
        return math.nan, at + 4, ROUNDED
    if _spells(at, b"nan"):
        return math.nan, at + 3, ROUNDED
    if _spells(at, b"inf"):
        return sign * math.inf, at + 3, ROUNDED
    return 0.0, at, WRONG


@part(nogil=True)
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
    if first + 16 <= end:
        # Most values: a few digits, and a point and a few more or neither. Which it is cannot be foretold, so there is
        # no branch on it.
        whole, digits, letter = read_short_digits(first)
        pointed = letter == POINT
        at = first + digits + pointed
        fraction, places, letter = read_short_digits(at)
        at += places
        if digits and (pointed or places == 0) and ends_word(letter):
            scale = EXACT_POWERS[np.uintp(places)]
            return sign * ((whole * scale + fraction) / scale), at, ROUNDED
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
    if not ends_word(letter_at(at)):
        return 0.0, at, WRONG
    if long_exponent:
        return 0.0, at, DIFFICULT
    if digits > MOST_DIGITS and _significant_digits(first, at) > MOST_DIGITS:
        return 0.0, at, DIFFICULT
    if power == 0 and digits <= 15:
        return sign * mantissa, at, ROUNDED
    value, rounded = nearest_double(mantissa, power)
    return sign * value, at, ROUNDED if rounded else DIFFICULT


@part(nogil=True)
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
