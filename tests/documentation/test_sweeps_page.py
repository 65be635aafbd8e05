"""The file that docs/sweeps.md shows names the combinations it says; its commands run with those of all pages."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

import rankplug as rp
from rankplug.store import combinations
from rankplug.store.result_store import PARTS
from rankplug.sweeps import read_file

PAGE = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text()


def test_the_file_is_read_and_all_its_profiles_name_combinations(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml.*?\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "sweep.yaml"
    path.write_text(text)
    for profile in (None, *yaml.safe_load(text)["profiles"]):
        chosen, left_out = combinations(read_file(path, profile).grids)
        assert len(chosen) == 2 * 3 and left_out == 0


def test_the_parts_of_a_combination_are_columns() -> None:
    assert set(rp.Combination.model_fields) - {"metrics"} == set(PARTS)
