"""The data of the last fit as LightGBM sorted them into bins, for the next fit on the same data.

A sweep trains many losses on the same lists with the same parameters, and to find the bins takes much of the time
of a small fit. What is equal is told by a digest of all numbers, so that data which somebody changed are binned anew.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np

from rankplug.data import Lists

KEPT_BYTES = 2**27
"""Size of the features up to which their bins are kept."""


class Binned(NamedTuple):
    """Training and validation data of a fit, and the trees that grow on them."""

    key: bytes
    train: lgb.Dataset
    valid: lgb.Dataset | None
    booster: weakref.ref[lgb.Booster]


_last: list[Binned] = []


def key_of(parameters: dict[str, Any], parts: Sequence[Lists], categorical: Sequence[int]) -> bytes | None:
    """Return a digest of all that determines the bins; None where the data are too large to keep.

    Args:
        parameters: LightGBM's.
        parts: training and validation data.
        categorical: positions of features without an order.
    """
    if sum(lists.features.nbytes for lists in parts) > KEPT_BYTES:
        return None
    digest = hashlib.blake2b(repr((sorted(parameters.items()), list(categorical))).encode(), digest_size=16)
    for lists in parts:
        digest.update(repr((lists.features.shape, lists.feature_names)).encode())
        for numbers in (lists.features, lists.labels):
            digest.update(np.ascontiguousarray(numbers).data)
    return digest.digest()


def take(key: bytes | None) -> Binned | None:
    """Take the data of the last fit out, if they are the same and no trees grow on them any more."""
    try:
        last = _last.pop()
    except IndexError:
        return None
    return last if last.key == key and last.booster() is None else None


def keep(key: bytes | None, train: lgb.Dataset, valid: lgb.Dataset | None, booster: lgb.Booster) -> None:
    """Keep the data of a fit in place of those of the fit before; none, where the key is none."""
    _last[:] = [] if key is None else [Binned(key, train, valid, weakref.ref(booster))]
