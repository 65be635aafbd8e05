"""Folders of this machine for prepared data, compiled code and notebooks."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from rankplug.errors import RankplugError


def cache_folder() -> Path:
    """Return the folder of prepared data and compiled code: ``RANKPLUG_CACHE`` or the user's cache.

    All of it can be made again.
    """
    return Path(os.environ.get("RANKPLUG_CACHE") or platformdirs.user_cache_dir("rankplug", appauthor=False))


def data_folders() -> list[Path]:
    """Folders that may hold archives or unpacked data sets: those in ``RANKPLUG_DATA``, separated as in ``PATH``."""
    return [Path(folder).expanduser() for folder in os.environ.get("RANKPLUG_DATA", "").split(os.pathsep) if folder]


def notebooks_folder() -> Path:
    """Return the folder of the notebooks: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "notebooks", package.parent / "notebooks"):
        if folder.is_dir():
            return folder
    raise RankplugError(f"the notebooks are neither in {package} nor beside it; install rankplug again")
