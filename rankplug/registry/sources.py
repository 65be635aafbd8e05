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
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from rankplug.errors import NotRunError
from rankplug.registry.specifications import OWN, Specification, same_distribution

UNIMPORTANT = ("summary", "paper", "parameters")
"""Parts of a specification that change no result, or whose code is digested."""
State = tuple[int, int]
"""Size and time of a file."""

_first_states: dict[Path, State] = {}
"""State of each file when its content was first digested in this process."""


def source_digest(specification: Specification, distribution: str) -> str:
    """Return a digest of a plugin's code; empty for plugins of this session and for rankplug's own, if not editable.

    For an editable distribution it covers the modules that the plugin imports, directly or through others, as far as
    they are editable too: an edit of a study's figures leaves the results of the losses beside it. Of rankplug itself
    only its plugins count, not the core. For any other distribution it covers all files that the installer recorded.

    Raises:
        NotRunError: a file has been edited since this process imported it.
    """
    if distribution == OWN and not _own_editable_packages():
        return ""
    if distribution == OWN or any(same_distribution(distribution, name) for name in editable_roots()):
        declared = {name: value for name, value in specification.describe().items() if name not in UNIMPORTANT}
        return _digest([*_modules(specification.modules()), json.dumps(declared, sort_keys=True, default=str)])
    return _recorded_digest(distribution)


def code_digest(*packages: str) -> str:
    """Return a digest of all files of some packages, and of the editable third-party packages that these import.

    Nothing is imported. The first call in a process notes the state of each file, so that it should come before, or
    directly after, the import.

    Args:
        packages: names of outermost packages or modules; those that do not exist have no files.

    Raises:
        NotRunError: a file has been edited since this process imported it.
    """
    pending, seen, lines = [*packages], set(), []
    while pending:
        package = pending.pop()
        if package in seen:
            continue
        seen.add(package)
        for name, path in _files_of_package(package):
            module = ".".join([package, *Path(name).with_suffix("").parts]).removesuffix(".__init__")
            own = path.suffix != ".py" or path.stem == package
            content, imported = _content(path, _checked_state(path, package if own else module))
            lines.append(f"{package}/{name} {content}")
            tops = {name.partition(".")[0] for name in imported}
            pending += [top for top in tops if top and top not in seen and _is_editable(top)]
    return _digest(sorted(lines))


def _modules(names: Iterable[str]) -> list[str]:
    """Return the editable modules among some and those that they import, with digests of their files."""
    pending, seen, lines = [*names], set(), []
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _file_of(name) if _is_editable(name.partition(".")[0]) else None
        if path is None:
            continue
        content, imported = _content(path, _checked_state(path, name))
        lines.append(f"{name} {content}")
        outer = name.rpartition(".")[0]
        package = name if path.stem == "__init__" else outer
        # Importing a module imports the packages around it.
        pending += [outer] if outer else []
        for other in imported:
            dots = len(other) - len(other.lstrip("."))
            if dots <= package.count(".") + 1:
                pending.append(importlib.util.resolve_name(other, package) if dots else other)
    return sorted(lines)


def _digest(lines: Iterable[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


def _files_of_package(package: str) -> Iterator[tuple[str, Path]]:
    """Yield the files of an outermost package or module by their paths in it; compiled and hidden ones not."""
    origin, locations = _places(package)
    if not locations and origin is not None:
        yield origin.name, origin
    for location in locations:
        for folder, inner, files in os.walk(location):
            inner[:] = [name for name in inner if name != "__pycache__" and not name.startswith(".")]
            for name in files:
                if not name.endswith(".pyc") and not name.startswith("."):
                    yield Path(os.path.relpath(folder, location), name).as_posix(), Path(folder, name)


def _places(package: str) -> tuple[Path | None, list[Path]]:
    """Return the file and the folders of an outermost package or module, which is not imported."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return None, []
    origin = Path(spec.origin) if spec.has_location and spec.origin else None
    return origin, [Path(location) for location in spec.submodule_search_locations or ()]


def _editable_root(distribution: metadata.Distribution) -> Path | None:
    """Return the folder of a distribution that is installed as editable."""
    try:
        location = json.loads(distribution.read_text("direct_url.json") or "{}")
        if location.get("dir_info", {}).get("editable"):
            return Path(url2pathname(urlsplit(location["url"]).path)).resolve()
    except (ValueError, AttributeError, KeyError, TypeError):
        pass
    return None


@functools.cache
def editable_roots() -> dict[str, Path]:
    """Return the folders of third-party distributions that are installed as editable, by the distributions' names."""
    named = [(distribution.name, distribution) for distribution in metadata.distributions() if distribution.name]
    others = [(name, _editable_root(found)) for name, found in named if not same_distribution(name, OWN)]
    return {name: root for name, root in others if root is not None}


@functools.cache
def _own_editable_packages() -> frozenset[str]:
    """Return the packages of rankplug's own plugins if rankplug is installed as editable, as in a checkout."""
    try:
        distribution = metadata.distribution(OWN)
    except metadata.PackageNotFoundError:
        return frozenset()
    if _editable_root(distribution) is None:
        return frozenset()
    points = (point for point in distribution.entry_points if point.group == OWN)
    return frozenset(point.module.partition(".")[0] for point in points) - {OWN}


@functools.cache
def _recorded_digest(distribution: str) -> str:
    """Return a digest of the lines of RECORD that belong to code, which are the same on every machine."""
    try:
        record = metadata.distribution(distribution).read_text("RECORD") or ""
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    lines = [
        line.rpartition(",")[0]
        for line in record.splitlines()
        if ".dist-info/" not in line and not line.startswith("..") and ".pyc," not in line
    ]
    return _digest(sorted(lines)) if lines else ""


def _file_of(module: str) -> Path | None:
    """Return the file of a module; only its outermost package is searched for on the path, and nothing is imported."""
    top, *inner = module.split(".")
    origin, locations = _places(top)
    if not inner:
        return origin
    for location in locations:
        path = Path(location, *inner)
        for file in (path / "__init__.py", path.with_suffix(".py"), *path.parent.glob(f"{path.name}.*.so")):
            if file.is_file():
                return file
    return None


@functools.cache
def _is_editable(package: str) -> bool:
    """Return whether a package's files lie in the folder of an editable distribution."""
    origin, locations = _places(package)
    files = [path.resolve() for path in locations or ([] if origin is None else [origin])]
    if files and package in _own_editable_packages():
        return True
    # An environment may lie inside the project.
    installed = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return any(
        file.is_relative_to(root) and not any(map(file.is_relative_to, installed))
        for file in files
        for root in editable_roots().values()
    )


def _checked_state(path: Path, module: str) -> State:
    """Return the state of a file; raise an error if it was edited after its module was imported."""
    stat = path.stat()
    state = stat.st_size, stat.st_mtime_ns
    if _first_states.setdefault(path, state) != state:
        if module in sys.modules:
            raise NotRunError(
                f"{path} was edited after it was imported; start a new session, so that the code that runs is the code"
                " in the file"
            )
        _first_states[path] = state
    return state


@functools.lru_cache(maxsize=4096)
def _content(path: Path, state: State) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a file, and the names of modules that it may import; relative ones begin with dots."""
    content = path.read_bytes()
    digest = hashlib.blake2b(content, digest_size=16).hexdigest()
    try:
        tree = ast.parse(content) if path.suffix == ".py" else ast.Module([], [])
    except (SyntaxError, ValueError):
        return digest, ()
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            # What is imported from a package may be a module of it.
            names |= {base, *(f"{base}{'.' if node.module else ''}{alias.name}" for alias in node.names)}
    return digest, tuple(sorted(names))
