"""Digests of code, for what a version does not tell apart: an editable package, or the same version built again.

They are part of what names a result (see ``rankplug.store``) and of what names machine code in the cache.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import json
import os
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from rankplug.errors import NotRunError
from rankplug.registry.specifications import OWN, Specification, same_distribution

State = tuple[int, int]
"""Size and time of a file."""

_first_states: dict[Path, State] = {}
"""State of each file when its content was first digested in this process."""


def source_digest(specification: Specification, distribution: str) -> str:
    """Return a digest of the code of a plugin's distribution; empty for rankplug's own and for those of this session.

    For an installed distribution it digests the files that the installer recorded; for an editable one, the files of
    its packages and of the editable packages that these import.

    Raises:
        NotRunError: a file has been edited since this process imported it.
    """
    if distribution == OWN:
        return ""
    try:
        installed = metadata.distribution(distribution)
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    if not any(same_distribution(distribution, name) for name in editable_roots()) and (
        digest := _recorded_digest(str(installed.version), installed.read_text("RECORD") or "")
    ):
        return digest
    modules = {point.module for point in installed.entry_points if point.group == OWN}
    return code_digest(*(name.partition(".")[0] for name in modules | set(specification.modules())))


def code_digest(*packages: str) -> str:
    """Return a digest of all files of some packages, and of the editable third-party packages that these import.

    Nothing is imported. The first call in a process notes the state of each file, so that it should come before, or
    directly after, the import.

    Args:
        packages: names of outermost packages or modules; those that do not exist have no files.

    Raises:
        NotRunError: a file has been edited since this process imported it.
    """
    digest = hashlib.blake2b(digest_size=8)
    pending, seen = [*packages], set()
    lines = []
    while pending:
        package = pending.pop()
        if package in seen:
            continue
        seen.add(package)
        for name, path in package_files(package):
            content, imported = _content(path, _checked_state(path, package, name))
            lines.append(f"{package}/{name} {content}\n")
            pending += [other for other in imported if other not in seen and _is_editable(other)]
    digest.update("".join(sorted(lines)).encode())
    return digest.hexdigest()


def package_files(package: str) -> Iterator[tuple[str, Path]]:
    """Yield the files of a package or module by their paths in it, without importing it; compiled and hidden ones not.

    Args:
        package: name of an outermost package or module.
    """
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    if not spec.submodule_search_locations:
        if spec.has_location and spec.origin:
            yield Path(spec.origin).name, Path(spec.origin)
        return
    for location in spec.submodule_search_locations:
        for folder, inner, files in os.walk(location):
            inner[:] = [name for name in inner if name != "__pycache__" and not name.startswith(".")]
            for name in files:
                if not name.endswith(".pyc") and not name.startswith("."):
                    yield Path(os.path.relpath(folder, location), name).as_posix(), Path(folder, name)


@functools.cache
def editable_roots() -> dict[str, Path]:
    """Return the folders of third-party distributions that are installed as editable, by the distributions' names."""
    roots = {}
    for distribution in metadata.distributions():
        text = distribution.read_text("direct_url.json")
        if text is None or not distribution.name or same_distribution(distribution.name, OWN):
            continue
        try:
            location = json.loads(text)
            if location.get("dir_info", {}).get("editable"):
                roots[distribution.name] = Path(url2pathname(urlsplit(location["url"]).path)).resolve()
        except (ValueError, AttributeError, KeyError, TypeError):
            continue
    return roots


@functools.lru_cache(maxsize=256)
def _recorded_digest(version: str, record: str) -> str:
    """Return a digest of the lines of RECORD that belong to code, which are the same on every machine."""
    lines = [
        line.rpartition(",")[0]
        for line in record.splitlines()
        if ".dist-info/" not in line and not line.startswith("..") and ".pyc," not in line
    ]
    return hashlib.blake2b("\n".join(sorted(lines)).encode(), digest_size=8).hexdigest() if lines else ""


@functools.cache
def _is_editable(package: str) -> bool:
    """Tell whether a package's files lie in the folder of an editable distribution."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    if spec is None:
        return False
    places = spec.submodule_search_locations or ([spec.origin] if spec.has_location and spec.origin else [])
    # An environment may lie inside the project.
    installed = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return any(
        Path(place).resolve().is_relative_to(root) and not any(map(Path(place).resolve().is_relative_to, installed))
        for place in places
        for root in editable_roots().values()
    )


def _checked_state(path: Path, package: str, name: str) -> State:
    """Return the state of a file; raise an error if it was edited after it may have been imported or read."""
    stat = path.stat()
    state = stat.st_size, stat.st_mtime_ns
    module = ".".join([package, *Path(name).with_suffix("").parts]).removesuffix(".__init__")
    imported = module in sys.modules or (package in sys.modules and (path.suffix != ".py" or path.stem == package))
    if _first_states.setdefault(path, state) != state:
        if imported:
            raise NotRunError(
                f"{path} was edited after it was imported; start a new session, so that the code that runs is the code"
                " in the file"
            )
        _first_states[path] = state
    return state


@functools.lru_cache(maxsize=4096)
def _content(path: Path, state: State) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a file, and the outermost packages that it imports."""
    content = path.read_bytes()
    digest = hashlib.blake2b(content, digest_size=16).hexdigest()
    try:
        tree = ast.parse(content) if path.suffix == ".py" else ast.Module([], [])
    except (SyntaxError, ValueError):
        return digest, ()
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module.partition(".")[0])
    return digest, tuple(sorted(names))
