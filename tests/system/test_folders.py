"""Folders for sockets: nobody's is taken away while it is made, and nobody's stays for good."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from rankplug.errors import RankplugError
from rankplug.system import SocketFolder, cache_folder, folders


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let folders lie in a folder of the test."""
    monkeypatch.setattr("rankplug.system.folders.tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("rankplug.system.folders.has_room", lambda folder: True)
    return tmp_path


@pytest.mark.parametrize("moment", ["acquire", "mkdir"])
def test_nobody_removes_a_folder_while_it_is_made(parent: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    usual, seen = folders.FileLock, list[Any]()

    class Interrupted(usual):  # type: ignore[valid-type, misc]
        def acquire(self, *words: Any, **options: Any) -> Any:
            if moment == "acquire" and not seen:
                seen.append(self.lock_file)
                folders._remove_abandoned(parent)
                assert not Path(self.lock_file).exists(), "nobody had locked it yet"
            return super().acquire(*words, **options)

    def mkdir(*words: Any, usual: Any = os.mkdir) -> None:
        if moment == "mkdir" and not seen:
            seen.append(words[0])
            folders._remove_abandoned(parent)
        usual(*words)

    monkeypatch.setattr(folders, "FileLock", Interrupted)
    monkeypatch.setattr(folders.os, "mkdir", mkdir)
    folder = SocketFolder()
    folders._remove_abandoned(parent)
    assert Path(folder.path).is_dir() and Path(folder.path).stat().st_mode & 0o777 == 0o700
    folder.remove()
    assert not list(parent.iterdir())


@pytest.mark.parametrize("halfway", ["before its folder", "while it was removed"])
def test_what_one_who_was_killed_halfway_left_goes(parent: Path, tmp_path_factory: Any, halfway: str) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "mine").touch()
    (parent / f"{folders.PREFIX}halfway{folders.LOCK}").touch()
    if halfway == "while it was removed":
        (parent / f"{folders.PREFIX}halfway").mkdir()
        (parent / f"{folders.PREFIX}halfway" / "link").symlink_to(elsewhere)
    SocketFolder().remove()
    assert not list(parent.iterdir())
    assert [path.name for path in elsewhere.iterdir()] == ["mine"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX rights")
def test_a_cache_that_others_can_write_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "above" / "cache"
    monkeypatch.setenv("RANKPLUG_CACHE", str(folder))
    before = os.umask(0)
    try:
        assert cache_folder() == folder
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    assert cache_folder() == folder
    folder.chmod(0o757)
    with pytest.raises(RankplugError, match="other users may write to the cache folder"):
        cache_folder()
    folder.chmod(0o700)
    real = Path.stat
    monkeypatch.setattr(Path, "stat", lambda path, **options: _owned_by(real(path, **options), 4242))
    with pytest.raises(RankplugError, match="set RANKPLUG_CACHE"):
        cache_folder()


def _owned_by(state: os.stat_result, owner: int) -> os.stat_result:
    fields = list(state)
    fields[4] = owner
    return os.stat_result(fields)
