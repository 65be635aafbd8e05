"""The study of defaults keeps what others found meanwhile, and trains again what was found of other defaults."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from rankplug_benchmarks import defaults

import rankplug as rp


def finding(collection: str, backend: str, draws: int, identity: str) -> defaults.Finding:
    return defaults.Finding(collection, 1, backend, "mse", draws, 0.1, 0.2, 0.3, identity)


def test_a_finding_joins_those_of_others_in_the_order_of_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "found.json"
    for collection, backend, draws in (("MQ2008", "torch", 1), ("OHSUMED", "torch", 1), ("MQ2008", "torch", 2)):
        defaults.keep(finding(collection, backend, draws, ""), path)
    defaults.keep(finding("OHSUMED", "lbfgs", 3, ""), path)
    kept = defaults.kept_findings(path)
    assert [(*key, one["draws"]) for key, one in kept.items()] == [
        ("OHSUMED", "lbfgs", 3), ("OHSUMED", "torch", 1), ("MQ2008", "torch", 2)
    ]  # fmt: skip


@pytest.mark.parametrize(("draws", "about_today", "runs"), [(5, True, False), (4, True, True), (5, False, True)])
def test_only_what_is_lacking_is_run(
    draws: int, about_today: bool, runs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, contestant = "made as MSLR, 300 queries", defaults.CONTESTANTS[0]
    today = rp.Combination(**defaults.usual_parts(defaults.COLLECTIONS[name], contestant)).identity
    path = tmp_path / "found.json"
    defaults.keep(finding(name, contestant.backend, draws, today if about_today else "another"), path)
    asked: list[str] = []

    def find(name: str, contestant: defaults.Contestant, store: Path, draws: int, jobs: int) -> defaults.Finding:
        asked.append(name)
        return finding(name, contestant.backend, draws, today)

    monkeypatch.setattr(defaults, "find", find)
    words = ["defaults", str(tmp_path), "--draws", "5", "--out", str(path), "--backends", contestant.backend]
    monkeypatch.setattr(sys, "argv", [*words, "--collections", name])
    defaults.main()
    assert asked == ([name] if runs else [])
