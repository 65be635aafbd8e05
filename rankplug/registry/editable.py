"""The digest of a plugin's source where someone works on it: a package of another's, installed with ``pip install -e``.

Its version stays while its code changes, so that results would keep the name of what it was. The digest covers the
files of such packages that the plugin imports, directly or through others, found without importing anything. A package
that is installed as it is has only its version, and so have rankplug's own plugins.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import json
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from rankplug.errors import NotRunError
from rankplug.registry.loading import OWN, same_distribution
from rankplug.registry.specifications import Specification

State = tuple[int, int]
"""Size and time of a file."""

_first_seen: dict[Path, State] = {}


def source_digest(specification: Specification, distribution: str) -> str:
    """Return a digest of a plugin's source; empty unless it is another's and editable where it is installed.

    Raises:
        NotRunError: this process has imported a file that was edited since, so that it does not run what is there.
    """
    if distribution == OWN:
        return ""
    roots = editable_roots()
    if not any(same_distribution(distribution, name) for name in roots):
        return ""
    folders = tuple(roots.values())
    digest = hashlib.blake2b(digest_size=8)
    for module, path in sorted(_needed(_modules_of(specification), folders).items()):
        state = _state(path)
        if _first_seen.setdefault(path, state) != state and module in sys.modules:
            raise NotRunError(
                f"{path}, which {specification} of {distribution} uses, was edited after it was imported; start a new"
                " session, so that what runs is what is there"
            )
        digest.update(f"{module} {_read(path, state)[0]}\n".encode())
    digest.update(json.dumps(_declared(specification), sort_keys=True, default=str).encode())
    return digest.hexdigest()


@functools.cache
def editable_roots() -> dict[str, Path]:
    """Return the folders of others' packages that are installed as editable, by the packages' names."""
    roots = {}
    for distribution in metadata.distributions():
        text = distribution.read_text("direct_url.json")
        if text is None or not distribution.name or same_distribution(distribution.name, OWN):
            continue
        try:
            location: Any = json.loads(text)
            if location.get("dir_info", {}).get("editable"):
                roots[distribution.name] = Path(url2pathname(urlsplit(location["url"]).path)).resolve()
        except (ValueError, AttributeError, KeyError, TypeError):
            continue
    return roots


def _modules_of(specification: Specification) -> set[str]:
    """Return the modules that define a plugin: those of its code, and of the model of its parameters."""
    code = specification.implementation
    paths = [code] if isinstance(code, str) else [f"{getattr(code, '__module__', type(code).__module__)}:"]
    paths += getattr(specification, "fitted_by", {}).values()
    return {path.partition(":")[0] for path in paths if path} | {specification.parameters.__module__}


def _declared(specification: Specification) -> dict[str, Any]:
    """Return what a specification declares that may change a result."""
    told = ("summary", "paper", "parameters")
    return {name: value for name, value in specification.describe().items() if name not in told}


def _needed(modules: Iterable[str], roots: tuple[Path, ...]) -> dict[str, Path]:
    """Return the modules among others' sources that some modules import, themselves included, with their files."""
    files: dict[str, Path] = {}
    todo, seen = list(modules), set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _file_of(name)
        if path is None or not _is_in(path, roots):
            continue
        files[name] = path
        # Importing a module imports the packages around it.
        todo += [name.rpartition(".")[0]] if "." in name else []
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        todo += [_absolute(module, package) for module in _read(path, _state(path))[1]]
    return files


def _absolute(name: str, package: str) -> str:
    return importlib.util.resolve_name(name, package) if name.startswith(".") and package else name.lstrip(".")


def _file_of(name: str) -> Path | None:
    """Find the file of a module without importing anything; only its outermost package is searched for on the path."""
    top, *inner = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if not inner:
        return Path(spec.origin).resolve() if spec.has_location and spec.origin else None
    for folder in spec.submodule_search_locations or ():
        path = Path(folder, *inner)
        for candidate in (path / "__init__.py", path.with_suffix(".py"), *path.parent.glob(f"{path.name}.*.so")):
            if candidate.is_file():
                return candidate.resolve()
    return None


def _is_in(path: Path, roots: tuple[Path, ...]) -> bool:
    """Tell whether a file lies in one of the folders, and not in an environment inside them."""
    installed = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return any(path.is_relative_to(root) for root in roots) and not any(map(path.is_relative_to, installed))


def _state(path: Path) -> State:
    state = path.stat()
    return state.st_size, state.st_mtime_ns


@functools.lru_cache(maxsize=4096)
def _read(path: Path, state: State) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a source file, and the names of what it imports; relative ones begin with dots."""
    content = path.read_bytes()
    digest = hashlib.blake2b(content, digest_size=8).hexdigest()
    try:
        tree = ast.parse(content) if path.suffix == ".py" else ast.Module([], [])
    except (SyntaxError, ValueError):
        return digest, ()
    return digest, tuple(_imported(tree))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            # What is imported from a package may be a module of it.
            yield from (f"{base}{'' if base.endswith('.') else '.'}{alias.name}" for alias in node.names)
