"""Folders of this machine for prepared data, compiled code and notebooks."""

from __future__ import annotations

import importlib.util
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
    """Return the folders that may hold archives or data sets: those in ``RANKPLUG_DATA``, separated as in ``PATH``."""
    return [Path(folder).expanduser() for folder in os.environ.get("RANKPLUG_DATA", "").split(os.pathsep) if folder]


def packaged_file(resource: str) -> Path:
    """Return the file that ``package:path`` names: inside the package, or beside it where it is installed in place.

    >>> packaged_file("rankplug:notebooks/combination.ipynb").name
    'combination.ipynb'
    """
    package, _, path = resource.partition(":")
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise RankplugError(f"{resource} is in a package {package}, which is not installed")
    homes = [Path(home) for home in spec.submodule_search_locations or [os.path.dirname(spec.origin or "")]]
    for folder in (*homes, *(home.parent for home in homes)):
        if (folder / path).is_file():
            return folder / path
    raise RankplugError(
        f"there is no file {path} in the package {package}; put it there, see that the package's build includes it, and"
        " install it again"
    )


def notebooks_folder() -> Path:
    """Return the folder of the notebooks: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "notebooks", package.parent / "notebooks"):
        if folder.is_dir():
            return folder
    raise RankplugError(f"the notebooks are neither in {package} nor beside it; install rankplug again")
