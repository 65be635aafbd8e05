"""Plans read few files, sweep files are bounded, and nothing is written by a dry run."""

from __future__ import annotations

import pytest

from rankplug.errors import GrammarError
from rankplug.store import Store, Trial
from rankplug.sweeps import _plan, expected_time, read_file


def test_the_expected_time_reads_few_files(store, fill, combination, monkeypatch):
    monkeypatch.setattr(_plan, "MOST_COMPARED", 5)
    for seed in range(20):
        fill(store, {"mse": 0.0}, trials=1, folds=(1,), seed=seed)
    read, paths = _plan.read_about, []
    monkeypatch.setattr(_plan, "read_about", lambda path: paths.append(path) or read(path))
    expected = expected_time([Trial(combination(seed=seed)) for seed in (0, 1, 99)], store)
    assert (expected.known, expected.trials, expected.seconds) == (3, 3, 4.5)
    assert len(paths) == 7


def test_aliases_in_a_sweep_file_are_refused(tmp_path):
    """Nine levels of nine aliases are 387 million values."""
    path = tmp_path / "laughs.yaml"
    lines = ["a0: &a0 [mse, mse, mse]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    path.write_text("\n".join(lines))
    with pytest.raises(GrammarError, match=r"laughs.yaml: write out the alias \*a0"):
        read_file(path)


def test_runs_of_a_grid_are_planned_one_by_one(tmp_path):
    path = tmp_path / "sweep.yaml"
    grid = "dataset: synthetic\nbackend: lightgbm\nloss: mse\n"
    path.write_text(f"{grid}runs: [[1, 0], [1, 7]]\n")
    waiting = read_file(path).plan(Store(tmp_path / "store")).waiting
    assert [(trial.fold, trial.number) for trial in waiting] == [(1, 0), (1, 7)]
    path.write_text(f"{grid}runs: [1, 0]\n")
    with pytest.raises(GrammarError, match="runs are pairs of a fold and the number of a trial"):
        read_file(path).plan(Store(tmp_path / "store"))
