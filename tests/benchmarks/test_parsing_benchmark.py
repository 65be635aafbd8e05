"""The benchmark of reading compares like with like."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "parsing.py"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("benchmarks_parsing", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmarks_parsing"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_all_readers_find_the_same_values(benchmark):
    rows = {row["contestant"]: row for row in benchmark.measure(megabytes=8, rounds=1)}
    assert set(rows) == set(benchmark.CONTESTANTS)
    assert rows["rankplug"]["values_that_differ"] == 0
    assert rows["scikit-learn"]["values_that_differ"] == 0
    assert rows["xgboost"]["values_that_differ"] < 0.05, "XGBoost rounds some values to a neighbouring float"


@pytest.mark.slow
def test_reading_is_much_faster_than_scikit_learn_and_holds_one_matrix(benchmark):
    rows = {row["contestant"]: row for row in benchmark.measure(megabytes=60, rounds=3)}
    assert rows["scikit-learn"]["times_ours"] > 8
    assert rows["xgboost"]["times_ours"] > 1
    assert benchmark.peak_memory(megabytes=200) < 1.3
