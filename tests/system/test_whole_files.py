"""Files and folders that are whole or not there: what killed processes left goes, what others write stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankplug.system import whole_files, whole_folder, write_whole
from rankplug.system.whole_files import LEFT_BEHIND_AFTER

LONG_AGO = (1e9, 1e9)


@pytest.fixture(autouse=True)
def look_again() -> None:
    """Let this process look into each folder again."""
    whole_files._remove_abandoned_once.cache_clear()


def old(path: Path) -> Path:
    os.utime(path, LONG_AGO, follow_symlinks=False)
    return path


def test_what_a_killed_process_left_goes_with_the_next_write(tmp_path: Path) -> None:
    (tmp_path / ".rankplug-abcdefgh.tmp").write_text("half")
    write_whole(tmp_path / "young", b"1")
    assert len(list(tmp_path.iterdir())) == 2, f"it may be written to for {LEFT_BEHIND_AFTER} seconds"
    for path in tmp_path.iterdir():
        old(path)
    whole_files._remove_abandoned_once.cache_clear()
    write_whole(tmp_path / "next", b"1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["next", "young"]


def test_what_has_another_name_is_the_users(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").touch()
    (tmp_path / ".rankplug-abcdefgh.tmp").symlink_to(tmp_path / "elsewhere")
    names = {".rankplug-notes.tmp", "rankplug-abcdefgh.tmp", ".abcdefgh.tmp", ".rankplug-A.tmp"}
    for name in names:
        (tmp_path / name).touch()
    for path in tmp_path.iterdir():
        old(path)
    write_whole(tmp_path / "next", b"1")
    assert {path.name for path in tmp_path.iterdir()} == names | {"elsewhere", "next"}
    assert (tmp_path / "elsewhere" / "mine").exists()


def test_a_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), whole_folder(tmp_path / "made") as folder:
        (folder / "not there" / "one").touch()
    assert not list(tmp_path.iterdir())
    (tmp_path / "made" / "before").mkdir(parents=True)
    with pytest.raises(OSError, match="not empty"), whole_folder(tmp_path / "made"):
        pass
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["before"]
    with whole_folder(tmp_path / "made", replace=True) as folder:
        (folder / "one").touch()
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["made", "made/one"]


def test_what_is_no_file_is_never_replaced_and_a_link_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, reason in (("pipe", "Is no regular file"), ("folder", "Is a directory")):
        with pytest.raises(OSError, match=reason):
            write_whole(tmp_path / name, b"1")
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "folder" / "result").touch()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "result")
    write_whole(tmp_path / "link", b"1")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "result").read_bytes() == b"1"
