"""Digests of functions by value: of their code, of what they use, and of the files that they come from.

A session's loss has no version, and machine code outlives the session that compiled it. Both are therefore named by a
digest of everything that changes what the function computes. Code counts as bytecode, so that comments and formatting
do not; functions of installed packages count by name and by the package's version.
"""

from __future__ import annotations

import contextlib
import copyreg
import dis
import functools
import hashlib
import importlib
import importlib.util
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from rankplug.errors import NotRunError, RankplugError
from rankplug.registry import GROUP, code_digest

LIBRARIES = frozenset({"numba", "numpy", "llvmlite", "scipy", *sys.stdlib_module_names})
"""Packages whose code cannot change without their version."""
DERIVED = frozenset({"compiled", "stored", "__wrapped__", "__doc__", "__module__", "__qualname__"})
"""Attributes of our function objects that follow from the others, or do not matter."""


class UnknownContentError(RankplugError):
    """A value has no content that a digest could cover."""


def digest_of(*values: Any) -> str:
    """Return a digest of some values and of everything that functions among them use.

    Raises:
        UnknownContentError: a value such as an open file has no content.
    """
    return _Walk(values).hash.hexdigest()


def code_digest_of(*functions: Any) -> str | None:
    """Return a digest of some functions and of the files of their packages; None if a file no longer has their code."""
    try:
        walk = _Walk(functions)
        # Files, too, for what a function uses without its name, such as numba's overloads.
        packages = walk.packages - LIBRARIES - {"__main__"} - _own_packages()
        return f"{walk.hash.hexdigest()} {code_digest(*packages)}"
    except (NotRunError, UnknownContentError):
        return None


def note_files(function: Any) -> None:
    """Note which state of its package's files a function was imported from."""
    package = (function.__module__ or "").partition(".")[0]
    if package not in _own_packages() | LIBRARIES | {"", "__main__"}:
        with contextlib.suppress(NotRunError):
            code_digest(package)


@functools.cache
def _own_packages() -> frozenset[str]:
    """Return the packages of rankplug's distribution, of which everything is digested by value."""
    try:
        points = metadata.distribution(GROUP).entry_points
    except metadata.PackageNotFoundError:
        return frozenset({"rankplug"})
    return frozenset({"rankplug", *(point.module.partition(".")[0] for point in points)})


def plain(function: Any) -> Any:
    """Return the Python function inside a loss, a compiled function or an intrinsic."""
    inner = getattr(function, "function", function) if type(function).__module__.startswith("rankplug.") else function
    return getattr(inner, "py_func", getattr(inner, "_defn", inner))


def names_used(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function uses by name: globals and what it imports, also in functions inside it, and closures.

    Of a module only the attributes that are used are yielded, as in ``("constants.FACTOR", 2.0)``.
    """
    pending = [function.__code__]
    seen = set()
    while pending:
        code = pending.pop()
        pending += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
        steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "EXTENDED_ARG")]
        for position, step in enumerate(steps):
            name = step.argval
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and name in function.__globals__:
                value = function.__globals__[name]
            elif step.opname == "IMPORT_NAME":
                value = _imported(name, steps[position - 2].argval, function.__globals__)
            else:
                continue
            for text, used in _attributes(name, value, steps[position + 1 :]):
                if text not in seen:
                    seen.add(text)
                    yield text, used
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue


def _attributes(name: str, value: Any, following: list[dis.Instruction]) -> Iterator[tuple[str, Any]]:
    """Yield a value, or those attributes of a module that the next instructions take from it."""
    imported = isinstance(value, types.ModuleType) and following and following[0].opname == "IMPORT_FROM"
    for step in following:
        if imported and step.opname == "IMPORT_FROM":
            yield f"{name}.{step.argval}", getattr(value, step.argval, None)
        elif imported and step.opname.startswith("STORE"):
            continue
        elif not imported and isinstance(value, types.ModuleType) and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if not hasattr(value, step.argval):
                break
            name, value = f"{name}.{step.argval}", getattr(value, step.argval)
        else:
            break
    if not imported:
        yield name, value


def _imported(name: str, level: Any, space: dict[str, Any]) -> types.ModuleType | None:
    """Return the module that a function imports while it runs; an installed one only if it is imported already."""
    full = name
    if level:
        full = importlib.util.resolve_name("." * level + name, space.get("__package__") or "")
    if full in sys.modules or _is_installed(full.partition(".")[0]):
        return sys.modules.get(full)
    return importlib.import_module(full)


@functools.cache
def _is_installed(package: str) -> bool:
    """Tell whether a package comes with Python or was installed, as opposed to a folder that somebody works in."""
    if package in LIBRARIES or package in sys.builtin_module_names:
        return True
    if package in _own_packages():
        return False
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    if spec is None:
        return False
    places = list(spec.submodule_search_locations or ()) or [spec.origin or ""]
    folders = [Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")]
    return any(Path(place).resolve().is_relative_to(folder) for place in places for folder in folders)


class _Walk:
    """Digest of values, each object once; remembers the packages that functions among them come from."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.hash = hashlib.blake2b(digest_size=16)
        self.packages: set[str] = set()
        self.positions: dict[int, int] = {}
        self.alive: list[Any] = []
        for value in values:
            self.add(value)

    def put(self, *words: object) -> None:
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode()
            self.hash.update(f"{len(data)} ".encode())
            self.hash.update(data)

    def add_all(self, kind: str, values: Iterable[Any]) -> None:
        items = list(values)
        self.put(kind, len(items))
        for item in items:
            self.add(item)

    def add(self, value: Any) -> None:
        """Add a value to the digest."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            self.put(type(value).__qualname__, value if isinstance(value, (str, bytes)) else repr(value))
            return
        if not isinstance(value, (tuple, frozenset, types.CodeType)):
            # Of constants it depends on the compiler which ones are the same object.
            if id(value) in self.positions:
                self.put("again", self.positions[id(value)])
                return
            self.positions[id(value)] = len(self.positions)
            self.alive.append(value)
        if not (self._add_container(value) or self._add_array(value) or self._add_code(value)):
            self._add_by_reduction(value)

    def _add_container(self, value: Any) -> bool:
        if type(value) in (tuple, list):
            self.add_all(type(value).__name__, value)
        elif type(value) in (dict, types.MappingProxyType):
            self.add_all("dict", [part for item in value.items() for part in item])
        elif type(value) in (set, frozenset):
            self.add_all("set", sorted(digest_of(item) for item in value))
        else:
            return False
        return True

    def _add_array(self, value: Any) -> bool:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            flat = value.detach().cpu().contiguous().flatten()
            self.put("tensor", value.dtype, tuple(value.shape), flat.view(torch.uint8).numpy().tobytes())
        elif isinstance(value, (np.ndarray, np.generic)) and value.dtype != object:
            self.put("array", value.dtype.str, value.shape, value.tobytes())
        elif isinstance(value, np.ndarray):
            self.add_all(f"objects {value.shape}", value.ravel().tolist())
        else:
            return False
        return True

    def _add_code(self, value: Any) -> bool:
        inner = plain(value)
        if isinstance(value, types.ModuleType):
            self._add_module(value)
        elif isinstance(value, types.CodeType):
            texts = [value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars]
            self.put("code", value.co_code, texts, value.co_argcount, value.co_kwonlyargcount, value.co_flags)
            self.add_all("constants", value.co_consts)
        elif isinstance(value, types.FunctionType):
            self._add_function(value)
        elif isinstance(inner, types.FunctionType):
            # Options of numba's, or the fields of a function object of ours, whose items are walked.
            options = getattr(value, "targetoptions", None) or vars(value) if inner is not value else {}
            self.add_all(type(value).__name__, [inner, {k: v for k, v in options.items() if k not in DERIVED}])
        elif isinstance(value, type):
            self._add_class(value)
        elif isinstance(value, (staticmethod, classmethod, property, types.MethodType)):
            parts = [getattr(value, name, None) for name in ("__func__", "__self__", "fget", "fset", "fdel")]
            self.add_all("method", parts)
        elif isinstance(value, (types.BuiltinFunctionType, types.GetSetDescriptorType, types.MemberDescriptorType)):
            self.put("builtin", getattr(value, "__module__", ""), value.__qualname__)
        else:
            return False
        return True

    def _add_function(self, function: types.FunctionType) -> None:
        package = (function.__module__ or "").partition(".")[0]
        self.packages.add(package)
        if package != "__main__" and _is_installed(package):
            self._add_named(function)
            return
        self.add_all("function", [function.__code__, function.__defaults__, function.__kwdefaults__])
        self.add_all("uses", [part for item in names_used(function) for part in item])

    def _add_module(self, module: types.ModuleType) -> None:
        package = module.__name__.partition(".")[0]
        self.packages.add(package)
        self.put("module", module.__name__)
        file = getattr(module, "__file__", None)
        if _is_installed(package) or file is None:
            self.put(getattr(sys.modules.get(package), "__version__", ""))
            return
        self.put(Path(file).read_bytes())
        for name, value in sorted(vars(module).items()):
            if isinstance(value, types.ModuleType) and not value.__name__.startswith(f"{module.__name__}."):
                self.put(name)
                self.add(value)

    def _add_class(self, kind: type) -> None:
        package = kind.__module__.partition(".")[0]
        if package != "__main__" and _is_installed(package):
            self._add_named(kind)
            return
        self.packages.add(package)
        skipped = (types.GetSetDescriptorType, types.MemberDescriptorType)
        content = {
            name: value
            for name, value in vars(kind).items()
            if not isinstance(value, skipped) and name not in ("__module__", "__doc__", "_abc_impl")
        }
        self.add_all("class", [kind.__qualname__, kind.__bases__, content])

    def _add_named(self, value: Any) -> None:
        version = getattr(sys.modules.get(value.__module__.partition(".")[0]), "__version__", "")
        self.put("named", value.__module__, value.__qualname__, version)

    def _add_by_reduction(self, value: Any) -> None:
        """Add what pickle would store of an object."""
        kind = type(value)
        description = f"a {kind.__module__}.{kind.__qualname__}"
        if kind.__module__.partition(".")[0] in ("numba", "llvmlite") and " at 0x" not in str(value):
            self.put("numba", kind.__qualname__, value)
            return
        if isinstance(wrapped := getattr(value, "__wrapped__", None), types.FunctionType):
            self.add_all(description, [wrapped])
            return
        try:
            # NumPy's universal functions are pickled by a function that copyreg knows.
            reducer = copyreg.dispatch_table.get(kind)
            stored = reducer(value) if reducer else value.__reduce_ex__(4)
        except Exception as error:
            raise UnknownContentError(f"{description} ({error})") from error
        if isinstance(stored, str):
            module = getattr(value, "__module__", None) or kind.__module__
            if not _is_installed(module.partition(".")[0]):
                raise UnknownContentError(f"{description} ({stored})")
            self.put("global", module, stored)
            return
        parts = [list(part) if position > 2 and part is not None else part for position, part in enumerate(stored[:5])]
        self.add_all("object", parts)
