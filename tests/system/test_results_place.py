"""A project has one folder of results, wherever in it one works, and results that are there are found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import rankplug as rp
from rankplug.authoring import examine
from rankplug.system import other_results, results_folder, results_place

INSIDE = (".", "notebooks", "notebooks/tutorials", "src/deep/deeper")


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


@pytest.mark.parametrize("inside", INSIDE)
def test_every_folder_of_a_project_has_the_same_store(project, monkeypatch, inside) -> None:
    monkeypatch.chdir(project / inside)
    assert results_folder() == project / "results", "before there are any"
    filled(project / "results")
    assert results_folder() == rp.Store().folder == project / "results"
    assert results_place().why == "found in the project's root"


def test_results_of_the_working_folder_are_found_first_and_the_others_told(project, monkeypatch) -> None:
    old, used = filled(project / "notebooks" / "results"), filled(project / "results")
    monkeypatch.chdir(project / "notebooks")
    assert results_folder() == old
    assert other_results() == [used]
    monkeypatch.chdir(project)
    assert results_folder() == used
    assert other_results() == [old]
    assert f"there are results in {old} too, which are not used here; rankplug results merge {old} brings them in" in (
        examine().remarks
    )


def test_outside_of_projects_the_search_ends_at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = home / "thesis" / "notebooks"
    inside.mkdir(parents=True)
    filled(home.parent / "results")
    monkeypatch.chdir(inside)
    assert results_folder() == inside / "results"
    assert results_place().why == "in the working folder, as this is no project"
    used = filled(home / "thesis" / "results")
    assert results_folder() == used
    assert results_place().why == f"found in {used.parent}"


def test_outside_home_the_store_of_the_folder_above_is_found(home, tmp_path, monkeypatch) -> None:
    inside = tmp_path / "elsewhere" / "project" / "notebooks" / "tutorials"
    inside.mkdir(parents=True)
    filled(tmp_path / "elsewhere" / "project" / "results")
    monkeypatch.chdir(inside)
    assert results_folder() == tmp_path / "elsewhere" / "project" / "results"


def test_outside_home_nobody_elses_results_are_taken(home, tmp_path, monkeypatch) -> None:
    mine = tmp_path / "shared" / "mine"
    mine.mkdir(parents=True)
    filled(tmp_path / "shared" / "results")
    (tmp_path / "shared").chmod(0o1777)
    monkeypatch.chdir(mine)
    assert results_folder() == mine / "results"


def test_the_environment_overrides_all(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(project / "results")
    monkeypatch.chdir(project)
    monkeypatch.setenv("RANKPLUG_RESULTS", "~/all results")
    assert results_folder() == Path(os.environ["HOME"]) / "all results"
    assert results_place().why == "named by RANKPLUG_RESULTS"
    assert other_results() == [project / "results"]
