"""Copies of the notebooks in a folder of the user's own."""

from __future__ import annotations

from pathlib import Path

from rankplug.errors import RankplugError
from rankplug.studies import studies
from rankplug.system import notebooks_folder, remove_abandoned, write_whole

PAPERS = Path("papers")
"""The folder of notebooks that come from other packages."""


def copy_notebooks(folder: Path, dry_run: bool = False) -> tuple[list[Path], list[Path]]:
    """Copy every notebook that a folder lacks; return those that are new, and those that were there.

    Notebooks of papers in other packages come too, into the folder ``papers``. What is there is never written over, as
    it may have been changed. A dry run writes nothing.
    """
    own = notebooks_folder()
    sources = {path.relative_to(own): path for path in sorted(own.rglob("*.ipynb")) if _is_shipped(path, own)}
    for path in (study.notebook_path for study in studies()):
        if not path.is_relative_to(own):
            sources[PAPERS / path.name] = path
    if not dry_run:
        # Also where every notebook is there, so that nothing is written.
        for parent in {(folder / name).parent for name in sources}:
            remove_abandoned(parent)
    new: list[Path] = []
    there: list[Path] = []
    for name, source in sources.items():
        target = folder / name
        if target.exists():
            there.append(target)
            continue
        new.append(target)
        if dry_run:
            continue
        try:
            write_whole(target, source.read_bytes())
        except OSError as error:
            raise RankplugError(
                f"cannot write {target}: {error.strerror or error}; name another folder, as in rankplug lab FOLDER"
            ) from error
    return new, there


def _is_shipped(path: Path, own: Path) -> bool:
    """Tell whether a notebook is one of ours, not a checkpoint that Jupyter left in a checkout."""
    return not any(part.startswith(".") for part in path.relative_to(own).parts)
