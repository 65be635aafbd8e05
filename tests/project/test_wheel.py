"""The wheel holds the library, what prepares data and every plugin, and neither documentation nor benchmarks."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


def test_the_wheel_holds_the_library_its_data_sets_and_every_plugin() -> None:
    plugins = {f"plugins/{path.name}" for path in (ROOT / "plugins").glob("rankplug_*") if path.is_dir()}
    assert set(WHEEL["packages"]) == {"rankplug", "data_prep/rankplug_data"} | plugins


def test_beside_packages_it_holds_notebooks_only() -> None:
    assert WHEEL["force-include"] == {"notebooks": "rankplug/notebooks"}
