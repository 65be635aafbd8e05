"""Made data that are kept for the next trial of a process change no result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rankplug as rp
from rankplug.store import Store, trial_runs
from rankplug.store.result_files import read_result

GRID = {
    "dataset": ["synthetic[queries=30,documents=8]", "synthetic[queries=30,documents=8,test_queries=700]"],
    "transforms": [[], ["query_minmax"]],
    "backend": "lbfgs",
    "loss": ["mse", "listnet"],
}


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often data are made."""
    from rankplug.data import Source

    counted, make = [], Source.blocks
    monkeypatch.setattr(Source, "blocks", lambda self, fold, seed: counted.append(seed) or make(self, fold, seed))
    trial_runs._last_made.clear()
    return counted


def queries(store: Store) -> dict[str, np.ndarray]:
    return {
        f"{path.stem} {metric}": values
        for path in store.files()
        for metric, values in read_result(path).queries.items()
    }


def test_each_is_made_once_a_trial_and_results_are_those_without(
    loads: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rp.sweep(GRID, trials=2, store=tmp_path / "kept", progress=False)
    assert len(loads) == 2 * 2 * 2, "of two methods on the same data the second finds them"
    monkeypatch.setattr(trial_runs, "KEPT_BYTES", 1000)
    trial_runs._last_made.clear()
    rp.sweep(GRID, trials=2, store=tmp_path / "anew", progress=False)
    assert len(loads) == 8 + 16 and not trial_runs._last_made
    kept, anew = queries(Store(tmp_path / "kept")), queries(Store(tmp_path / "anew"))
    assert kept.keys() == anew.keys() and len(kept) == 64
    assert all(np.array_equal(kept[name], anew[name], equal_nan=True) for name in kept)
