"""Results on a user's own file are named by its content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import rankplug as rp
from rankplug.store import Combination

LINE = "{label} qid:{query} 1:0.5 2:{feature}\n"


def write(path: Path, feature: float = 0.25) -> None:
    lines = [LINE.format(label=document % 2, query=document // 3, feature=feature) for document in range(30)]
    path.write_text("".join(lines))


def identity(path: Path, **more: str) -> str:
    words = ",".join(f'{name}="{value}"' for name, value in more.items())
    return Combination(
        dataset=f'letor-file[path="{path}"{"," + words if words else ""}]', backend="lightgbm", loss="mse"
    ).identity


def test_an_edited_file_gives_new_results_and_a_touched_one_does_not(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    write(path)
    before = identity(path)
    os.utime(path, (1, 1))
    assert identity(path) == before
    write(path, feature=0.75)
    assert identity(path) != before


def test_an_edit_that_keeps_size_and_time_is_seen_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankplug_data.public.sources.cache_folder", lambda: tmp_path / "cache")
    path = tmp_path / "own.txt"
    write(path)
    before, state = identity(path), path.stat()
    assert rp.load({"name": "letor-file", "path": str(path)}).train.features[0, 1] == 0.25
    write(path, feature=0.75)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (state.st_size, state.st_mtime_ns)
    assert identity(path) != before
    assert rp.load({"name": "letor-file", "path": str(path)}).train.features[0, 1] == 0.75


def test_every_file_of_a_folder_and_every_named_part_counts(tmp_path: Path) -> None:
    folder, other = tmp_path / "own", tmp_path / "valid.txt"
    folder.mkdir()
    write(folder / "train.txt")
    write(other)
    before = identity(folder), identity(folder / "train.txt", valid=str(other))
    write(folder / "test.txt")
    write(other, feature=0.75)
    after = identity(folder), identity(folder / "train.txt", valid=str(other))
    assert all(one != two for one, two in zip(before, after, strict=True))


def test_planning_on_a_missing_file_is_no_error_yet(tmp_path: Path) -> None:
    assert identity(tmp_path / "nothing.txt")
