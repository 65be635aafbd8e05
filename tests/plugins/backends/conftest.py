"""A small made set whose relevance depends on three features together, so that no single one ranks well."""

from __future__ import annotations

import numpy as np
import pytest

from rankplug import Lists


def made(queries: int, seed: int) -> Lists:
    noise = np.random.default_rng(seed)
    lengths = noise.integers(5, 25, queries)
    features = noise.normal(size=(int(lengths.sum()), 6)).astype(np.float32)
    merit = features[:, 0] + features[:, 1] + 0.8 * features[:, 2] + 0.3 * noise.normal(size=features.shape[0])
    labels = np.digitize(merit, [0.6, 1.6, 2.4, 3.2]).astype(np.float32)
    return Lists(features, labels, np.concatenate(([0], np.cumsum(lengths))), source="made")


@pytest.fixture(scope="session")
def train() -> Lists:
    return made(120, seed=1)


@pytest.fixture(scope="session")
def valid() -> Lists:
    return made(60, seed=2)


@pytest.fixture(scope="session")
def test() -> Lists:
    return made(120, seed=3)
