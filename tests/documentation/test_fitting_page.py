"""docs/fitting.md names every backend with every scorer it fits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rankplug.registry import registry
from rankplug.training.fitting import scorers_of

PAGE = (Path(__file__).parents[2] / "docs" / "fitting.md").read_text()
BUILT_IN = [plugin.specification.name for plugin in registry().plugins("backend") if plugin.distribution == "rankplug"]


@pytest.mark.parametrize("backend", BUILT_IN)
def test_the_table_is_complete(backend):
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{backend}` |"))
    assert sorted(re.findall(r"`(\w+)`", row.split("|")[2])) == sorted(scorers_of(backend))
