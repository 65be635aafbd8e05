"""The numbers in [0, 1) that XE-NDCG takes off the gains (Definition 1), one a document."""

from __future__ import annotations

import numpy as np

from rankplug.compiled import building_block, uniform

PER_ITERATION, ONCE = 0, 1
COUNTER, LIGHTGBM = 0, 1
_MULTIPLIER = np.uint32(214013)
_INCREMENT = np.uint32(2531011)


@building_block
def fill_gamma(out, key, list_key, source, fixed, generator, objective_seed, query, iteration):
    """Fill the numbers of one list in one iteration, drawn anew, drawn once, or all ``fixed``."""
    if source not in (PER_ITERATION, ONCE):
        out[:] = fixed
    elif generator == LIGHTGBM:
        _fill_as_lightgbm(out, objective_seed + query, iteration if source == PER_ITERATION else 0)
    else:
        own_key = key if source == PER_ITERATION else list_key
        for i in range(out.size):
            out[i] = uniform(own_key, i)


@building_block
def _fill_as_lightgbm(out, seed, iteration):
    """Draw as LightGBM does, on from its last iteration: bits 16 to 30 of x <- 214013 x + 2531011 (mod 2^32)."""
    state = np.uint32(seed)
    multiplier, increment, steps = _MULTIPLIER, _INCREMENT, iteration * out.size
    while steps > 0:  # jump ahead by squaring
        if steps & 1:
            state = np.uint32(state * multiplier + increment)
        increment = np.uint32(increment * multiplier + increment)
        multiplier = np.uint32(multiplier * multiplier)
        steps >>= 1
    for i in range(out.size):
        state = np.uint32(state * _MULTIPLIER + _INCREMENT)
        out[i] = np.float64((state >> np.uint32(16)) & np.uint32(0x7FFF)) / 32768.0
