"""One seed tree: every use of randomness in a trial has a stream of its own.

Two losses compared under one seed therefore share split, initialisation and batch order, whatever else they draw.

>>> bool(generator(0, "split").integers(100) == generator(0, "split").integers(100))
True
>>> stream(0, "split") == stream(0, "noise")
False
"""

from __future__ import annotations

import hashlib

import numpy as np

from rankplug.system.plain_numbers import whole_number


def sequence(seed: int, *purpose: str | int) -> np.random.SeedSequence:
    """Return the node of the tree that a purpose such as ``("initialisation", learner)`` names."""
    words = [
        part if isinstance(part, int) else int.from_bytes(hashlib.blake2b(part.encode(), digest_size=4).digest(), "big")
        for part in purpose
    ]
    return np.random.SeedSequence(whole_number(seed, "seed"), spawn_key=tuple(words))


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """Return NumPy's generator for a purpose."""
    return np.random.default_rng(sequence(seed, *purpose))


def stream(seed: int, *purpose: str | int) -> int:
    """Return a 63-bit number for engines that take a seed of their own."""
    return int(sequence(seed, *purpose).generate_state(1, np.uint64)[0] >> np.uint64(1))


def trial_seed(master: int, trial: int) -> int:
    """Return the seed of a trial of an experiment; trials are counted from 0."""
    return int(sequence(master, "trial", trial).generate_state(1, np.uint32)[0])
