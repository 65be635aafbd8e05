"""Commands that are killed, or whose disk fails, leave after a further run what an undisturbed run leaves.

Only a few cases run here; ``campaign`` runs as many as there is time for, and says what it found.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from rankplug.cli import app

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


NOT_KILLED = {
    "completion": "prints a script that comes with rankplug",
    "bench": "is of a distribution of its own",
    "warm": "compiles what every command compiles; tests/reliability/test_cold_cache.py damages what it keeps",
    "data get": "needs a network; tests/data_prep/public/test_download.py cuts it off",
    "data check-links": "needs a network, and writes nothing",
    "data info": "reads what `data prepare` has written",
    "data verify": "reads what `data prepare` has written",
}


def names_of(command: Any, name: str = "") -> Iterator[str]:
    """Yield the words of all commands that can be run."""
    inner = getattr(command, "commands", {})
    if not inner or getattr(command, "invoke_without_command", False):
        yield name
    for word, one in inner.items():
        yield from names_of(one, f"{name} {word}".strip())


def test_every_command_is_in_the_campaign_or_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(CAMPAIGN))
    campaign = importlib.import_module("commands")
    for name in ("commands", "children"):
        monkeypatch.delitem(sys.modules, name)
    every = set(names_of(typer.main.get_command(app)))
    tried = {
        name for name in every for one in campaign.COMMANDS.values() if name.split() == one.words[: len(name.split())]
    }
    assert every - tried == set(NOT_KILLED) & every
    assert set(campaign.WRITERS) <= set(campaign.COMMANDS)


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
