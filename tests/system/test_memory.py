"""Training that cannot fit into memory is refused before it starts."""

from __future__ import annotations

import numpy as np
import pytest

import rankplug as rp
from rankplug.errors import FitError
from rankplug.system import machine


def test_the_limit_of_a_container_counts_where_it_is_lower(tmp_path, monkeypatch):
    for name, text in (
        ("MEMORY_OF_MACHINE", "MemTotal: 9 kB\nMemAvailable:   8000 kB\n"),
        ("LIMIT_OF_GROUP", "5000000\n"),
        ("USE_OF_GROUP", "1000000\n"),
    ):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(machine, name, tmp_path / name)
    assert machine.available_memory() == 4_000_000
    (tmp_path / "LIMIT_OF_GROUP").write_text("max\n")
    assert machine.available_memory() == 8_000 * 1024
    (tmp_path / "MEMORY_OF_MACHINE").unlink()
    assert machine.available_memory() is None


@pytest.mark.parametrize("backend", ["lightgbm", "xgboost"])
def test_bins_that_cannot_be_held_are_refused_before_training(backend, monkeypatch):
    lists = rp.Lists(np.zeros((100, 20), np.float32), np.zeros(100), [0, 100])
    monkeypatch.setattr(machine, "available_memory", lambda: 1999)
    with pytest.raises(FitError, match=f"backend {backend} needs at least .* GiB of memory"):
        rp.fit(backend, loss="cross_entropy", train=lists)
