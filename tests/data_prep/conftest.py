"""Fixtures that tests of transforms share."""

from __future__ import annotations

import numpy as np
import pytest

from rankplug.registry import registry


def _transform(reference, split, seed=0):
    specification, parameters = registry().resolve("transform", reference)
    return specification.load()(split, parameters, np.random.default_rng(seed))


@pytest.fixture(scope="session")
def transform():
    """Return a function that applies a transform to any split: ``transform("binarise", split, seed=0)``."""
    return _transform
