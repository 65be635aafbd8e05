"""Where things lie on this machine: prepared data, compiled kernels, notebooks."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from rankplug.errors import RankplugError


def cache_folder() -> Path:
    """Prepared data and compiled code, all of which can be made again: ``RANKPLUG_CACHE`` or the user's cache."""
    return Path(os.environ.get("RANKPLUG_CACHE") or platformdirs.user_cache_dir("rankplug", appauthor=False))


def data_folders() -> list[Path]:
    """Folders that may hold archives or unpacked data sets: those in ``RANKPLUG_DATA``, separated as in ``PATH``."""
    return [Path(folder).expanduser() for folder in os.environ.get("RANKPLUG_DATA", "").split(os.pathsep) if folder]


def notebooks_folder() -> Path:
    """Where the notebooks lie: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "notebooks", package.parent / "notebooks"):
        if folder.is_dir():
            return folder
    raise RankplugError(f"the notebooks are neither in {package} nor beside it; install rankplug again")
