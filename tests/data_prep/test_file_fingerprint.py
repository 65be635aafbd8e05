"""Results on a user's own file are named by its content."""

from __future__ import annotations

import os
from pathlib import Path

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
