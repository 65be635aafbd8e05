"""Runs of decimal digits, eight letters at a time.

Eight letters are one 64-bit word. Which of them are digits, and the number they spell, follow from a few operations on
the whole word (Lemire, "Number parsing at a gigabyte per second", 2021), without a branch on each letter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rankplug.compiled import part

ZERO = 48
POWERS_OF_TEN = np.array([10**power for power in range(19)], np.int64)

_ZEROS = np.uint64(0x3030303030303030)
_ABOVE_NINE = np.uint64(0x7676767676767676)
_TOP_BITS = np.uint64(0x8080808080808080)
_LAST_LETTER = np.uint64(0x8000000000000000)
_EVERY_FOURTH = np.uint64(0x000000FF000000FF)
_MILLIONS_AND_HUNDREDS = np.uint64(0x000F424000000064)
_TEN_THOUSANDS_AND_ONES = np.uint64(0x0000271000000001)


@intrinsic
def _letter_at(typing_context: Any, place: Any) -> Any:
    """Return the letter at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        letter = builder.load(builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))
        return builder.zext(letter, ir.IntType(64))

    return types.int64(types.intp), generate


@intrinsic
def _word_at(typing_context: Any, place: Any) -> Any:
    """Return the eight letters from an address on, the first in the lowest byte."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))
        word.align = 1
        return word

    return types.uint64(types.intp), generate


@intrinsic
def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Count the lowest bits of a word that are zero; the word is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


letter_at: Any = _letter_at
word_at: Any = _word_at
trailing_zeros: Any = _trailing_zeros


@part(nogil=True)
def read_digits(at: Any, end: int) -> tuple[Any, Any]:
    """Read the number that the digits at an address spell (modulo 2^64 if there are many); also return where they end.

    The text, which ends before ``end``, must not end with a digit.

    >>> text = np.frombuffer(b"2024:0.5 ", np.uint8)
    >>> value, after = read_digits(text.ctypes.data, text.ctypes.data + text.size)
    >>> value, after - text.ctypes.data
    (2024, 4)
    """
    value: Any = np.int64(0)
    if at + 8 <= end:
        word = word_at(at) ^ _ZEROS
        letters = (word + _ABOVE_NINE | word) & _TOP_BITS
        if letters:
            bits = trailing_zeros(letters) & np.uint64(0x38)
            if bits == np.uint64(0):
                return value, at
            word = word << (np.uint64(64) - bits)
            return _eight_digits(word), at + np.int64(bits >> np.uint64(3))
        value = _eight_digits(word)
        at += 8
    digit = letter_at(at) - ZERO
    while 0 <= digit <= 9:
        value = value * 10 + digit
        at += 1
        digit = letter_at(at) - ZERO
    return value, at


@part(nogil=True, inline="always")
def read_short_digits(at: Any) -> tuple[Any, Any, Any]:
    """Read up to seven digits, none too, without a branch on how many there are.

    Eight letters from the address on must be readable.

    Returns:
        The number, how many digits it has, and the letter behind them; a digit where there are more.
    """
    word = word_at(at) ^ _ZEROS
    letters = (word + _ABOVE_NINE | word) & _TOP_BITS
    bits = trailing_zeros(letters | _LAST_LETTER) & np.uint64(0x38)
    digits = word << (np.uint64(56) - bits) << np.uint64(8)
    return _eight_digits(digits), np.int64(bits >> np.uint64(3)), np.int64(word >> bits & np.uint64(0xFF)) ^ ZERO


@part(nogil=True, inline="always")
def _eight_digits(word: Any) -> Any:
    """Return the number of eight digits whose zeros have been taken off."""
    word = word * np.uint64(10) + (word >> np.uint64(8))
    high = (word & _EVERY_FOURTH) * _MILLIONS_AND_HUNDREDS
    low = (word >> np.uint64(16) & _EVERY_FOURTH) * _TEN_THOUSANDS_AND_ONES
    return np.int64((high + low) >> np.uint64(32))
