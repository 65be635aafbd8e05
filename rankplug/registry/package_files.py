"""The files of a package, found without importing it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path


def package_files(package: str) -> Iterator[tuple[str, Path]]:
    """Yield the files of a package or module by their paths in it, but for compiled and hidden ones.

    Args:
        package: its name, with that of the packages around it left out.
    """
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield from _files_below(folder)
    if spec and spec.origin and not spec.submodule_search_locations:
        module = Path(spec.origin)
        # A module alone may have others beside it, of the same distribution.
        yield from ((path.name, path) for path in module.parent.glob(f"{module.stem}*.py"))


def _files_below(folder: str) -> Iterator[tuple[str, Path]]:
    for inner, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        for name in files:
            if not name.endswith(".pyc"):
                yield os.path.relpath(os.path.join(inner, name), folder), Path(inner, name)
