"""Edited data, missing packages and troubled machines are not recorded as the failure of a combination."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rankplug.errors import NotRunError
from rankplug.store import Store
from rankplug.sweeps._running import Outcome, sweep

pytestmark = pytest.mark.usefixtures("trouble")

TREES = "trees[rounds=3,min_data=1,leaves=4]"
WAYS = [
    pytest.param({}, id="inline"),
    pytest.param({"jobs": 2}, id="processes", marks=pytest.mark.slow),
    pytest.param({"notebooks": True}, id="notebooks", marks=pytest.mark.slow),
]


@pytest.fixture
def text(tmp_path):
    """Write a file of forty queries."""
    noise = np.random.default_rng(0)
    lines = [
        f"{noise.integers(3)} qid:{query} 1:0.{noise.integers(10**6):06} 2:0.{noise.integers(10**6):06}\n"
        for query in range(40)
        for _ in range(5)
    ]
    path = tmp_path / "own.txt"
    path.write_text("".join(lines))
    return path


@pytest.fixture
def edits(trouble_path):
    """Return the file that names what the trouble plugin edits during the sweep."""
    path = trouble_path / "edits"
    yield path
    path.unlink(missing_ok=True)


def run(text: Path, store: Path, **options: Any) -> Outcome:
    parts = {"backend": "lightgbm", "scorer": TREES, "loss": "mse", "metrics": "ndcg@5"}
    return sweep(parts, data=f'letor-file[path="{text}"]', store=store, trials=3, progress=False, **options)


def values(outcome: Outcome) -> pd.DataFrame:
    frame = outcome.frame()
    return frame[["trial", "measure", "part", "metric", "iteration", "query", "value"]].sort_values(
        ["trial", "measure", "part", "metric", "iteration", "query"], ignore_index=True
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_file_edited_during_a_sweep_never_gives_results_under_the_name_of_what_it_was(text, edits, tmp_path, way):
    before = values(run(text, tmp_path / "before"))
    edits.write_text(str(text))
    disturbed = run(text, tmp_path / "store", **way)
    assert not edits.exists() and not disturbed.failures and not disturbed.store.failures()
    assert len(disturbed.not_run) >= 2
    assert all(
        f"letor-file[path={text}] is not what it was when this was planned" in failure or "was planned as" in failure
        for failure in disturbed.not_run
    )
    kept = values(disturbed)
    expected = before[before["trial"].isin(kept["trial"].unique())]
    pd.testing.assert_frame_equal(kept.astype(before.dtypes), expected)
    again = run(text, tmp_path / "store", **way)
    assert not again.failures and not again.not_run
    after = values(again)
    pd.testing.assert_frame_equal(after, values(run(text, tmp_path / "after")))
    assert not after["value"].equals(before["value"])


def test_a_package_or_data_that_are_missing_are_named_before_anything_runs(tmp_path, monkeypatch):
    find, absent = importlib.util.find_spec, "xgboost"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == absent else find(name, *more))
    monkeypatch.setattr("rankplug_data.prepared.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("RANKPLUG_DATA", raising=False)
    grid = {"dataset": ["istella-s", "trouble"], "backend": ["lightgbm", "xgboost"], "loss": ["mse", "listnet"]}
    with pytest.raises(NotRunError) as told:
        sweep(grid, store=tmp_path / "store", trials=2, progress=False)
    assert "install it with: pip install 'rankplug[xgboost]'" in str(told.value)
    assert "istella-s is not on this machine. rankplug data get istella-s fetches it." in str(told.value)
    assert str(told.value).count("not on this machine") == 1
    assert not Store(tmp_path / "store").failures()


def test_a_set_whose_release_nobody_has_read_is_named_by_its_data_from_its_first_sweep_on(tmp_path, monkeypatch):
    monkeypatch.setattr("rankplug_data.prepared.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setenv("RANKPLUG_DATA", str(tmp_path))
    folder = tmp_path / "dataset"
    folder.mkdir()
    for part in ("train", "valid", "test"):
        lines = [f"{row % 3} qid:{row // 5} {row % 7 + 1}:0.{row}\n" for row in range(50)]
        (folder / f"set1.{part}.txt").write_text("".join(lines))
    grid = {"dataset": "yahoo-c14", "backend": "lightgbm", "scorer": TREES, "loss": "mse", "metrics": "ndcg@5"}
    with pytest.warns(UserWarning, match="published"):
        first = sweep(grid, store=tmp_path / "store", progress=False)
    second = sweep(grid, store=tmp_path / "store", progress=False)
    assert len(second.plan.done) == 1 and not second.plan.waiting
    assert len(first.frame()) == len(second.frame()) > 0
    assert first.plan.trials[0].combination.data_fingerprint
