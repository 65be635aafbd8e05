"""Decimal text to the nearest double, exactly as ``float(text)`` rounds it, inside compiled loops.

Most numbers in ranking data have few digits. A mantissa below 2^53 and a power of ten up to 22 are both exact as
doubles, so that one multiplication or division rounds correctly (Clinger, "How to read floating point numbers
accurately", 1990). Longer ones take the 128-bit product of Eisel and Lemire (Lemire, "Number parsing at a gigabyte per
second", 2021). The few that neither can decide are left to the caller, who has ``float``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankplug.compiled import part

SMALLEST_POWER = -342
LARGEST_POWER = 308
MOST_DIGITS = 18
"""Digits of a mantissa that always fit a signed 64-bit integer."""

EXACT_POWERS = 10.0 ** np.arange(23)


def _powers_of_five() -> np.ndarray:
    """Return the 128 leading bits of each power of five, as two 64-bit words; rounded up below 1, cut above."""
    words = np.empty((LARGEST_POWER - SMALLEST_POWER + 1, 2), np.uint64)
    for power in range(SMALLEST_POWER, LARGEST_POWER + 1):
        if power < 0:
            divisor = 5**-power
            leading = (1 << (divisor.bit_length() + 127)) // divisor + 1
        else:
            leading = 5**power
        surplus = leading.bit_length() - 128
        leading = leading >> surplus if surplus > 0 else leading << -surplus
        words[power - SMALLEST_POWER] = leading >> 64, leading & ((1 << 64) - 1)
    return words


POWERS_OF_FIVE = _powers_of_five()


@part(nogil=True, inline="always")
def _product(left: Any, right: Any) -> tuple[Any, Any]:
    """Return both words of the product of two unsigned 64-bit numbers, the high one first."""
    half, low_half = np.uint64(32), np.uint64(0xFFFFFFFF)
    left_high, left_low = left >> half, left & low_half
    right_high, right_low = right >> half, right & low_half
    low = left_low * right_low
    middle = left_high * right_low + (low >> half)
    other = left_low * right_high + (middle & low_half)
    return left_high * right_high + (middle >> half) + (other >> half), (other << half) | (low & low_half)


@part(nogil=True)
def nearest_double(mantissa: int, power: int) -> tuple[float, bool]:
    """Return ``mantissa * 10 ** power`` correctly rounded, for a mantissa from 0 to below 2^63, and its success.

    >>> nearest_double(9007199254740993, -3)
    (9007199254740.992, True)
    """
    if mantissa == 0:
        return 0.0, True
    if mantissa <= 1 << 53 and -22 <= power <= 22:
        if power < 0:
            return mantissa / EXACT_POWERS[-power], True
        return mantissa * EXACT_POWERS[power], True
    if power < SMALLEST_POWER or power > LARGEST_POWER:
        return 0.0, False
    shift = 0
    word: Any = np.uint64(mantissa)
    top = np.uint64(1) << np.uint64(63)
    while not word & top:
        word <<= np.uint64(1)
        shift += 1
    row = power - SMALLEST_POWER
    high, low = _product(word, POWERS_OF_FIVE[row, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = _product(word, POWERS_OF_FIVE[row, 1])
        low += more
        if low < more:
            high += np.uint64(1)
    if low == np.uint64(0xFFFFFFFFFFFFFFFF) and not -27 <= power <= 55:
        return 0.0, False
    upper = np.int64(high >> np.uint64(63))
    dropped = np.uint64(upper + 9)
    bits = high >> dropped
    exponent = ((217706 * power) >> 16) + 63 + upper - shift + 1023
    if exponent <= 0 or exponent > 2046:
        return 0.0, False
    tie = low <= np.uint64(1) and -4 <= power <= 23 and bits & np.uint64(3) == np.uint64(1)
    if tie and bits << dropped == high:
        bits &= ~np.uint64(1)
    bits += bits & np.uint64(1)
    return math.ldexp(float(bits >> np.uint64(1)), int(exponent - 1023 - 52)), True
