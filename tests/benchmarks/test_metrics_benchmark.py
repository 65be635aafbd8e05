"""The benchmark of metrics compares like with like."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "metrics.py"


@pytest.mark.slow
def test_all_contestants_agree_to_12_digits_on_what_they_are_timed_for():
    spec = importlib.util.spec_from_file_location("benchmarks_metrics", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmarks_metrics"] = module
    spec.loader.exec_module(module)
    rows = module.measure(queries=1_200, rounds=1)
    assert {row["contestant"] for row in rows} == {"rankplug", *module.CONTESTANTS}
    assert all(row["seconds"] > 0 and row["queries_timed"] >= 20 for row in rows)
    assert max(row["largest_difference"] for row in rows) < 1e-12
