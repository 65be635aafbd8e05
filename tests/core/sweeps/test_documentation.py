"""What docs/sweeps.md shows works as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import rankplug as rp
from rankplug.cli import app
from rankplug.combinations import combinations
from rankplug.store import PARTS
from rankplug.sweep_files import read_file

PAGE = (Path(__file__).parents[3] / "docs" / "sweeps.md").read_text()
COMMANDS = re.findall(r"^rankplug (?:sweep|results) .*$", PAGE, re.MULTILINE)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_file_is_read_and_all_its_profiles_name_combinations(tmp_path: Path) -> None:
    (text,) = blocks("yaml")
    path = tmp_path / "sweep.yaml"
    path.write_text(text)
    for profile in (None, *yaml.safe_load(text)["profiles"]):
        chosen, left_out = combinations(read_file(path, profile).grids)
        assert len(chosen) == 2 * 3 and left_out == 0


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.startswith("rankplug sweep")])
def test_every_sweep_can_be_planned(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweep.yaml").write_text(blocks("yaml")[0])
    planned = CliRunner().invoke(app, [*shlex.split(command)[1:], "--dry-run"], catch_exceptions=False)
    assert planned.exit_code == 0
    assert "to run, 0 done" in planned.output


def test_every_question_can_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    words = [word for word in map(shlex.split, COMMANDS) if word[1] == "results"]
    assert len(words) == 7
    grid = {"dataset": "synthetic[queries=20,documents=10]", "backend": "lightgbm", "loss": ["xe_ndcg", "lambdarank"]}
    rp.sweep(grid, scorer="trees[rounds=2]", trials=2, progress=False)
    for command in words:
        if "merge" in command:
            command = [word.replace("/mnt/other/results", str(tmp_path / "results")) for word in command]
        asked = CliRunner().invoke(app, command[1:], catch_exceptions=False)
        assert asked.exit_code == 0, asked.output
    assert (tmp_path / "results.zip").exists()


def test_the_parts_of_a_combination_are_columns() -> None:
    assert set(rp.Combination.model_fields) - {"metrics"} == set(PARTS)
