"""A digest of the code that an evaluation depends on."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

from rankplug.registry import registry

INSTALLED = (".dist-info", ".egg-info")
"""Ends of the names of folders that describe an installed distribution and its version."""


def code_files() -> dict[Path, bytes]:
    """Return digests of the files of rankplug, of plugins and of loaded modules outside of installed distributions."""
    paths = sorted(_plugin_files() | _loaded_files())
    return {path: hashlib.blake2b(path.read_bytes(), digest_size=16).digest() for path in paths}


def code_digest(files: dict[Path, bytes]) -> str:
    """Return a digest of :func:`code_files`, and of the versions of all that is installed."""
    digest = hashlib.blake2b(sys.version.encode(), digest_size=16)
    for name in sorted({name for folder in filter(os.path.isdir, sys.path) for name in os.listdir(folder)}):
        if name.endswith(INSTALLED):
            digest.update(f"{name}\n".encode())
    for path, content in files.items():
        digest.update(f"{path.name}\n".encode() + content)
    return digest.hexdigest()


def _plugin_files() -> set[Path]:
    packages = {"rankplug"}
    for plugin in registry().plugins():
        code = plugin.specification.implementation
        module = code.partition(":")[0] if isinstance(code, str) else getattr(code, "__module__", "")
        packages.add(module.partition(".")[0])
    specs = [find_spec(package) for package in packages - {"", "__main__"}]
    folders = {folder for spec in specs if spec for folder in spec.submodule_search_locations or ()}
    files = {Path(spec.origin) for spec in specs if spec and spec.origin and not spec.submodule_search_locations}
    return files | {path for folder in folders for path in Path(folder).rglob("*.py")}


def _loaded_files() -> set[Path]:
    """Return the source files of loaded modules that belong neither to Python nor to an installed distribution."""
    libraries = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    own = (file for file in files if file.endswith(".py") and not file.startswith(libraries))
    return {Path(file) for file in own if os.path.isfile(file)}
