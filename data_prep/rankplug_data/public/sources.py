"""Location of a data set's archive or folder on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rankplug.system import cache_folder, data_folders
from rankplug_data.preparation.layout import same_name
from rankplug_data.text.archives import is_archive_name


def downloads_folder() -> Path:
    """Return the folder of fetched files."""
    return cache_folder() / "downloads"


def prepared_folder() -> Path:
    """Return the folder of prepared data."""
    return cache_folder() / "data"


def candidates(names: Iterable[str]) -> list[Path]:
    """Return archives and folders of one of these names, in ``RANKPLUG_DATA`` first and then among the downloads.

    A folder of ``RANKPLUG_DATA`` may itself bear the name.
    """
    sources = []
    folders = [*data_folders(), downloads_folder()]
    for name in names:
        for folder in folders:
            if not folder.is_dir():
                continue
            entries = [folder, *sorted(folder.iterdir())]
            sources += [entry for entry in entries if same_name(entry.name, name) and _may_be_source(entry)]
    return list(dict.fromkeys(sources))


def _may_be_source(path: Path) -> bool:
    return path.is_dir() or is_archive_name(path.name)
