"""Random numbers from a counter, and the exponential, in exactly rounded arithmetic only.

Sums, products and shifts are the same on every processor; ``exp`` and ``log`` of the system's library are not. So
normal numbers are sums of uniform ones, and the exponential is a polynomial of our own.
"""

from __future__ import annotations

import numpy as np

from rankplug.compiled import mix, part

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HALFWORD = np.uint64(0xFFFF)
_NORMAL_SPREAD = 1.0 / (65536.0 / np.sqrt(3.0))
_INVERSE = 1.0 / np.maximum(np.arange(10.0), 1.0)
_POWERS_OF_TWO = 2.0 ** np.arange(-128, 129)


@part(nogil=True, error_model="numpy")
def word(key: np.uint64, counter: int) -> np.uint64:
    """Return the 64 bits at a position of a key's stream."""
    return mix(key + np.uint64(counter + 1) * _GOLDEN)


@part(nogil=True, error_model="numpy")
def standard(bits: np.uint64) -> float:
    """Return a nearly normal number of mean 0 and variance 1, between -3.47 and 3.47: the sum of four uniform ones."""
    total = (
        (bits & _HALFWORD)
        + ((bits >> np.uint64(16)) & _HALFWORD)
        + ((bits >> np.uint64(32)) & _HALFWORD)
        + (bits >> np.uint64(48))
    )
    return float((np.float64(total) - 131070.0) * _NORMAL_SPREAD)


@part(nogil=True, error_model="numpy")
def normal(key: np.uint64, counter: int) -> float:
    """Return a normal number to beyond five deviations: the sum of twelve uniform 16-bit numbers of three counters."""
    return (
        standard(word(key, counter)) + standard(word(key, counter + 1)) + standard(word(key, counter + 2))
    ) * 0.5773502691896258


@part(nogil=True, error_model="numpy")
def exponential(x: float) -> float:
    """Return ``exp(x)`` for ``|x| < 80`` to 12 digits, without the system's library."""
    whole = np.floor(x * 1.4426950408889634 + 0.5)
    r = (x - whole * 0.693359375) + whole * 2.121944400546905827679e-4
    series = 1.0 + r * _INVERSE[9]
    series = 1.0 + r * _INVERSE[8] * series
    series = 1.0 + r * _INVERSE[7] * series
    series = 1.0 + r * _INVERSE[6] * series
    series = 1.0 + r * _INVERSE[5] * series
    series = 1.0 + r * _INVERSE[4] * series
    series = 1.0 + r * _INVERSE[3] * series
    series = 1.0 + r * _INVERSE[2] * series
    return float((1.0 + r * series) * _POWERS_OF_TWO[np.int64(whole) + 128])


@part(nogil=True, error_model="numpy")
def squashed(x: float) -> float:
    """Return an S-shaped curve from 0 to 1, with exact arithmetic: ``(1 + x / (1 + |x|)) / 2``."""
    return 0.5 + 0.5 * x / (1.0 + abs(x))
