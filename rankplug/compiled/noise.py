"""Noise from a counter: the same (seed, iteration, query, sample, document) always gives the same number.

Results therefore do not depend on the number of threads, on the order of the lists or on what else was drawn.
The generator is splitmix64's finaliser over a keyed counter.
"""

from __future__ import annotations

import math

import numpy as np

from rankplug.compiled.parts import part

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_UNIT = 1.0 / 9007199254740992.0


@part(inline="always")
def mix(number: np.uint64) -> np.uint64:
    """Mix 64 bits by a bijection in which every input bit changes about half of the output bits."""
    number ^= number >> np.uint64(30)
    number *= _FIRST
    number ^= number >> np.uint64(27)
    number *= _SECOND
    return number ^ (number >> np.uint64(31))


@part(nogil=True)
def key_of(seed: int, iteration: int, query: int, sample: int) -> np.uint64:
    """Return the key of one list's noise."""
    key = mix(np.uint64(seed) + _INCREMENT)
    key = mix(key + np.uint64(iteration) * _INCREMENT + np.uint64(1))
    key = mix(key + np.uint64(query) * _INCREMENT + np.uint64(2))
    return mix(key + np.uint64(sample) * _INCREMENT + np.uint64(3))


@part(inline="always")
def uniform(key: np.uint64, document: int) -> float:
    """Return a number strictly between 0 and 1, uniform on a grid of 2^-53."""
    bits = mix(key + np.uint64(document + 1) * _INCREMENT)
    return (np.float64(bits >> np.uint64(11)) + 0.5) * _UNIT


@part(inline="always")
def logistic(key: np.uint64, document: int) -> float:
    """Return a number of the logistic distribution, which is that of a difference of two Gumbel numbers."""
    draw = uniform(key, document)
    return math.log(draw / (1.0 - draw))
