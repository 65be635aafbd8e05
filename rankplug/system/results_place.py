"""The folder of results that is used when none is named: one for a whole project, wherever in it one works."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rankplug.errors import RankplugError

NAME = "results"
MARKS = (".git", "pyproject.toml")
"""Entries of a project's root; a folder with the first is preferred to one with the second."""
OURS = re.compile(r"[0-9a-f]{16}|\.locks")
"""Names of folders by which a folder of results is told from others of its name."""


@dataclass(frozen=True)
class ResultsPlace:
    """A folder of results, and why it is the one that is used."""

    path: Path
    why: str


def results_folder() -> Path:
    """Return the folder of results where no store is named, see :func:`results_place`."""
    return results_place().path


def results_place() -> ResultsPlace:
    """Find the folder of results: ``RANKPLUG_RESULTS``, or the nearest ``results`` upwards that holds some.

    The search ends at the project's root, or in no project at the home folder. Where there are no results yet, they go
    into ``results`` in the project's root, or in no project in the working folder.
    """
    if named := os.environ.get("RANKPLUG_RESULTS"):
        return ResultsPlace(Path(named).expanduser(), "named by RANKPLUG_RESULTS")
    here = _working_folder()
    root = project_root(here)
    for folder in _upwards(here, root):
        if holds_results(folder / NAME):
            where = (
                "in the project's root"
                if folder == root
                else f"in {'the working folder' if folder == here else folder}"
            )
            return ResultsPlace(folder / NAME, f"found {where}")
    if root is not None:
        return ResultsPlace(root / NAME, "in the project's root")
    return ResultsPlace(here / NAME, "in the working folder, as this is no project")


def report_folder() -> Path:
    """Return the folder of the report where none is named: ``report`` in the project's root, or in no project in the
    working folder.
    """
    here = _working_folder()
    return (project_root(here) or here) / "report"


def other_results() -> list[Path]:
    """Return folders of results in the project that are not the one in use."""
    used, here = results_folder(), _working_folder()
    root = project_root(here)
    folders = [folder / NAME for folder in _upwards(here, root)]
    for pattern in (f"[!.]*/{NAME}", f"[!.]*/[!.]*/{NAME}") if root is not None else ():
        folders += sorted((root or here).glob(pattern))
    return [path for path in dict.fromkeys(folders) if path != used.absolute() and holds_results(path)]


def holds_results(folder: Path) -> bool:
    """Tell whether sweeps have written into a folder."""
    try:
        return any(OURS.fullmatch(entry.name) and entry.is_dir() for entry in os.scandir(folder))
    except OSError:
        return False


def project_root(here: Path) -> Path | None:
    """Return the nearest folder from here upwards that marks a project; none in the home folder and above it."""
    home = _home()
    above = [folder for folder in (here, *here.parents) if folder != home and folder not in home.parents]
    return next((folder for mark in MARKS for folder in above if (folder / mark).exists()), None)


def _upwards(here: Path, root: Path | None) -> Iterator[Path]:
    last = root or (_home() if here.is_relative_to(_home()) else here)
    for folder in (here, *here.parents):
        yield folder
        if folder == last:
            return


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:
        raise RankplugError("the working folder is gone; change into another, or set RANKPLUG_RESULTS") from None
