"""Commands that are killed, or whose disk fails, leave after a further run what an undisturbed run leaves.

Only a few cases run here; ``campaign.py`` runs as many as there is time for, and says what it found.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CAMPAIGN = Path(__file__).parent / "campaign.py"


def run(folder: Path, kind: str, number: int) -> list[dict[str, Any]]:
    words = [sys.executable, CAMPAIGN, kind, str(number), "--folder", folder]
    done = subprocess.run(words, capture_output=True, text=True, timeout=3000, env=os.environ)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "FOUND" not in done.stdout
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_commands_that_are_killed_end_as_undisturbed_ones(tmp_path: Path) -> None:
    lines = run(tmp_path, "kills", 20)
    assert len(lines) == 20 and sum(line["killed"] for line in lines) >= 5
    assert all(line["equal"] and not line["orphans"] for line in lines)
    assert len(run(tmp_path, "kills", 20)) == 20, "a campaign that is resumed runs no case again"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_commands_whose_disk_fails_at_any_write_end_as_undisturbed_ones(tmp_path: Path) -> None:
    lines = run(tmp_path, "disk", 4)
    assert len(lines) >= 20 and all(line["equal"] for line in lines)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_of_four_sweeps_on_one_store_two_may_be_killed(tmp_path: Path) -> None:
    lines = run(tmp_path, "share", 2)
    assert len(lines) == 2 and all(line["equal"] and line["complete"] for line in lines)
