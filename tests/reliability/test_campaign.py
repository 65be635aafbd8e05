"""Commands that are killed, or whose disk fails, leave after a further run what an undisturbed run leaves.

Only a few cases run here; ``campaign`` runs as many as there is time for, and says what it found.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CAMPAIGN = Path(__file__).parent / "campaign"


def run(folder: Path, kind: str, number: int, *commands: str) -> list[dict[str, Any]]:
    chosen = [word for command in commands for word in ("--command", command)]
    words = [sys.executable, CAMPAIGN, kind, str(number), "--folder", folder, *chosen]
    done = subprocess.run(words, capture_output=True, text=True, timeout=3000, env=os.environ)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "FOUND" not in done.stdout
    if not (folder / "log.jsonl").exists():
        pytest.skip(done.stdout)
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [line for line in lines if not line.get("room")]


QUICK = ("sweep", "train", "prepare", "merge", "export", "compact", "clean", "new", "evaluate")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_commands_that_are_killed_end_as_undisturbed_ones(tmp_path: Path) -> None:
    lines = run(tmp_path, "kills", 15, *QUICK)
    assert len(lines) == 15 and sum(line["killed"] for line in lines) >= 8
    assert all(line["equal"] and not line["orphans"] and not line["litter"] for line in lines)
    assert len(run(tmp_path, "kills", 15, *QUICK)) == 15, "a campaign that is resumed runs no case again"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["disk", "limit", "full"])
def test_commands_whose_disk_fails_end_as_undisturbed_ones(tmp_path: Path, kind: str) -> None:
    lines = run(tmp_path, kind, 3, "train", "sweep", "prepare", "export")
    assert all(line["equal"] and not line["litter"] for line in lines)
    assert len(lines) >= 4


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_of_four_sweeps_on_one_store_two_may_be_killed(tmp_path: Path) -> None:
    lines = run(tmp_path, "share", 2)
    assert len(lines) == 2 and all(line["equal"] and line["complete"] for line in lines)
