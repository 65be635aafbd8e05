"""The benchmark of made data makes what it says, and leaves the settings as they were."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from rankplug_data.synthetic import collection

PATH = Path(__file__).parents[2] / "benchmarks" / "synthetic.py"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("benchmarks_synthetic", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmarks_synthetic"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("in_memory", [True, False])
def test_the_set_has_the_size_asked_for(benchmark, in_memory):
    before = collection.IN_MEMORY_BYTES, os.environ.get("RANKPLUG_CACHE")
    row = benchmark.make("mslr", 4.0, in_memory)
    assert row["megabytes"] == pytest.approx(4.0, rel=0.3)
    assert row["processor"] > 0
    assert (collection.IN_MEMORY_BYTES, os.environ.get("RANKPLUG_CACHE")) == before
