"""Synthetic data that stay in memory for the next trial change no result."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp
from rankplug.store import Store
from rankplug.store._files import read_result
from rankplug.sweeps import _trial_runs as trial_runs

GRID = {
    "dataset": ["synthetic[queries=30,documents=8]", "synthetic[queries=30,documents=8,test_queries=700]"],
    "transforms": [[], ["query_minmax"]],
    "backend": "lbfgs",
    "loss": ["mse", "listnet"],
}


@pytest.fixture
def loads(monkeypatch):
    """Count how often data are made."""
    from rankplug.data import Source

    counted, make = [], Source.blocks
    monkeypatch.setattr(Source, "blocks", lambda self, fold, seed: counted.append(seed) or make(self, fold, seed))
    trial_runs._last_data.clear()
    return counted


def queries(store: Store) -> dict[str, np.ndarray]:
    return {
        f"{path.stem} {metric}": values
        for path in store.files()
        for metric, values in read_result(path).queries.items()
    }


def test_data_are_loaded_once_for_two_methods(loads, tmp_path, monkeypatch):
    rp.sweep(GRID, trials=2, store=tmp_path / "kept", progress=False)
    assert len(loads) == 2 * 2 * 2, "of two methods on the same data the second finds them"
    monkeypatch.setattr(trial_runs, "LAST_DATA_BYTES", 1000)
    trial_runs._last_data.clear()
    rp.sweep(GRID, trials=2, store=tmp_path / "anew", progress=False)
    assert len(loads) == 8 + 16 and not trial_runs._last_data
    kept, anew = queries(Store(tmp_path / "kept")), queries(Store(tmp_path / "anew"))
    assert kept.keys() == anew.keys() and len(kept) == 64
    assert all(np.array_equal(kept[name], anew[name], equal_nan=True) for name in kept)
