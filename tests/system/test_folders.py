"""A project has one folder of results, caches belong to one user, and working folders go with their owner."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import rankplug as rp
from rankplug.authoring import examine
from rankplug.errors import RankplugError
from rankplug.system import SocketFolder, cache_folder, folders, other_results, results_folder, results_place

INSIDE = (".", "notebooks", "src/deep/deeper")


def test_what_a_killed_owner_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parent, elsewhere = tmp_path / "temporary", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").touch()
    monkeypatch.setattr("rankplug.system.folders.tempfile.gettempdir", lambda: str(parent))
    monkeypatch.setattr("rankplug.system.folders.has_room", lambda folder: True)
    (parent / f"{folders.PREFIX}killed").mkdir(parents=True)
    (parent / f"{folders.PREFIX}killed" / "link").symlink_to(elsewhere)
    for name in ("killed", "killed-before-its-folder"):
        (parent / f"{folders.PREFIX}{name}{folders.LOCK}").touch()
    first, second = SocketFolder(), SocketFolder()
    assert first.path.is_dir() and first.path.stat().st_mode & 0o777 == 0o700
    first.remove()
    second.remove()
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

    def of_another_user(path: Path, **options: Any) -> os.stat_result:
        fields = list(real(path, **options))
        fields[4] = 4242
        return os.stat_result(fields)

    monkeypatch.setattr(Path, "stat", of_another_user)
    with pytest.raises(RankplugError, match="set RANKPLUG_CACHE"):
        cache_folder()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a user's home folder."""
    monkeypatch.delenv("RANKPLUG_RESULTS", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture(params=[".git", "pyproject.toml"])
def project(home: Path, request: pytest.FixtureRequest) -> Path:
    """Make a project in the home folder."""
    root = home / "work" / "project"
    for folder in INSIDE:
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / request.param).mkdir()
    return root


def filled(folder: Path) -> Path:
    (folder / "0123456789abcdef").mkdir(parents=True)
    return folder


def test_every_folder_of_a_project_has_the_same_store(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for inside in INSIDE:
        monkeypatch.chdir(project / inside)
        assert results_folder() == project / "results"
    filled(project / "results")
    for inside in INSIDE:
        monkeypatch.chdir(project / inside)
        assert results_folder() == rp.Store().folder == project / "results"


def test_results_of_the_working_folder_come_first(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, used = filled(project / "notebooks" / "results"), filled(project / "results")
    monkeypatch.chdir(project / "notebooks")
    assert results_folder() == old
    assert other_results() == [used]
    monkeypatch.chdir(project)
    assert results_folder() == used
    assert other_results() == [old]
    assert any(str(old) in remark for remark in examine().remarks)
    monkeypatch.setenv("RANKPLUG_RESULTS", "~/all results")
    assert results_place() == (Path(os.environ["HOME"]) / "all results", "named by RANKPLUG_RESULTS")
    assert other_results() == [used, old]


def test_outside_of_projects_the_search_ends_at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = home / "thesis" / "notebooks"
    inside.mkdir(parents=True)
    filled(home.parent / "results")
    monkeypatch.chdir(inside)
    assert results_folder() == inside / "results"
    used = filled(home / "thesis" / "results")
    assert results_folder() == used


@pytest.mark.parametrize("shared", [False, True])
def test_outside_home_only_own_results_are_found(home: Path, shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    above, inside = home.parent / "elsewhere", home.parent / "elsewhere" / "project" / "notebooks"
    inside.mkdir(parents=True)
    filled(above / "results")
    above.chmod(0o1777 if shared else 0o755)
    monkeypatch.chdir(inside)
    assert results_folder() == (inside if shared else above) / "results"
