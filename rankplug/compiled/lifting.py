"""Lifting: a function of all lists from a compiled function of one.

An author writes what happens to one list; its arguments say by their names what it needs:

========================== ==========================================================================
``scores``, ``labels``      the list's scores and labels, float64
``gradient``, ``curvature`` float64 rows to fill, of the list's length
``constants``               what the loss's ``constants`` function computed of this list before training
``order``                   the list's documents best first, as the last call left them (int32, to re-sort in place)
``key``                     of this list's noise in this iteration and sample, for :func:`rankplug.compiled.uniform`
``list_key``                the same in every iteration
``seed, query, iteration``  the numbers behind the keys
``newton``                  whether a boosting engine asks, see :class:`rankplug.losses.Objective`
``valued``                  whether the loss's value is asked for; what is returned counts for nothing otherwise
any other name              a parameter of the plugin, as a number (a word arrives as its position among the allowed)
========================== ==========================================================================

The loop over the lists is written as source into the cache folder, under a name made of everything it depends on. That
way numba finds its compiled form again in the next process, which it does not for closures, and nothing piles up.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import sys
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.registry import CPUDispatcher
from numpy.typing import NDArray

from rankplug.compiled.machine_code import compile_with_own_copies
from rankplug.compiled.named_functions import NamedFunction, names_used
from rankplug.compiled.parts import part
from rankplug.errors import BrokenPluginError
from rankplug.registry import Parameters, literal_values
from rankplug.system import cache_folder, numbers, write_whole

FASTMATH = frozenset({"reassoc", "nsz", "contract", "arcp"})
OLD_VERSIONS_KEPT = 4
HEADER = (
    "import numpy as np\nfrom rankplug.compiled.machine_code import compile_with_own_copies\n"
    "from rankplug.compiled.noise import key_of\nfrom rankplug.compiled.scratch_arrays import scratch, zeros\n"
    "from rankplug.compiled.vector_math import exp, make_log_probabilities\n"
)


class ListFunction(NamedFunction):
    """A function of one list, compiled at first use; pickled by reference."""

    def __init__(self, function: Callable[..., Any], fastmath: frozenset[str] | bool = FASTMATH) -> None:
        super().__init__(function)
        self.fastmath = fastmath

    def __call__(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)

    @cached_property
    def compiled(self) -> Any:
        """The compiled function."""
        fastmath = set(self.fastmath) if isinstance(self.fastmath, frozenset) else self.fastmath
        return part(nogil=True, error_model="numpy", fastmath=fastmath)(self.function)

    def call(self, expressions: Mapping[str, str], parameters: str) -> str:
        """Return the arguments of a call as source: an expression for what is supplied, else an item of the tuple."""
        return ", ".join(
            expressions[name] if name in self.supplied else f"{parameters}[{self.wants.index(name)}]"
            for name in self.arguments
        )

    def numbers(self, parameters: Parameters, names: Sequence[str] | None = None) -> tuple[float | int | bool, ...]:
        """Return the values of the parameters that the function takes, in the form a compiled function needs."""
        return tuple(self._number(parameters, name) for name in (self.wants if names is None else names))

    def _number(self, parameters: Parameters, name: str) -> float | int | bool:
        value = self.value_of(parameters, name)
        if isinstance(value, (bool, int, float)):
            return value
        field = type(parameters).model_fields.get(name)
        words = literal_values(field) if field else ()
        if value in words:
            return words.index(value)
        raise BrokenPluginError(
            f"{self.__module__}.{self.__name__}: the parameter {name}={value!r} is not a number; give"
            f" {type(parameters).__name__} a property that makes one of it"
        )


EXPRESSIONS = {
    "scores": "f",
    "perturbed": "a",
    "labels": "labels[d:d + n]",
    "gradient": "g",
    "curvature": "h",
    "constants": "constants[constant_starts[q]:constant_starts[q + 1]]",
    "order": "order[d:d + n]",
    "key": "key",
    "list_key": "key_of(seed, -1, q, 0)",
    "seed": "seed",
    "query": "q",
    "iteration": "iteration",
    "newton": "newton",
    "valued": "valued",
}


def call_of_list(function: ListFunction, parameters: str, scores: str | None = None) -> str:
    """Return the arguments of a call inside a loop over lists, as source."""
    return function.call(EXPRESSIONS | ({"scores": scores} if scores else {}), parameters)


def building_block(function: Callable[..., Any]) -> Any:
    """Compile a part of a function of one list with the same settings as the whole; a decorator."""
    return part(nogil=True, error_model="numpy", fastmath=set(FASTMATH))(function)


def sources_of(function: Callable[..., Any]) -> dict[str, str]:
    """Return the dependencies of a compiled function: digests of source files by path, constants elsewhere by name."""
    sources: dict[str, str] = {}
    todo: list[Any] = [function]
    seen: set[int] = set()
    while todo:
        plain = todo.pop()
        plain = getattr(plain, "py_func", plain)
        plain = plain.function if isinstance(plain, ListFunction) else plain
        if not isinstance(plain, types.FunctionType) or id(plain) in seen:
            continue
        seen.add(id(plain))
        path = plain.__code__.co_filename
        if path not in sources and os.path.exists(path):
            sources[path] = hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()
        used = list(names_used(plain))
        sources |= {
            f"{path}:{name}": f"{name}={value!r}"
            for name, value in used
            if isinstance(value, (bool, int, float, str, tuple))
        }
        reachable = [value for _, value in used]
        modules = [value for value in reachable if isinstance(value, types.ModuleType)]
        reachable += [getattr(module, name, None) for module in modules for name in plain.__code__.co_names]
        todo += [value for value in reachable if isinstance(value, (CPUDispatcher, ListFunction))]
    return sources


def make(template: str, parts: dict[str, ListFunction]) -> Any:
    """Compile the function ``lifted`` of a source text in which each part is known by its name."""
    return _make(template, tuple(parts.items()))


@functools.lru_cache(maxsize=512)
def _make(template: str, parts: tuple[tuple[str, ListFunction], ...]) -> Any:
    space: dict[str, Any] = {name: part.compiled for name, part in parts}
    exec(compile(f"{HEADER}\n{template}", "<lifted>", "exec"), space)
    if not all(part.importable for _, part in parts):
        return compile_with_own_copies(space["lifted"])
    imports = "".join(
        f"from {part.__module__} import {part.__qualname__} as {name}_\n{name} = {name}_.compiled\n"
        for name, part in parts
    )
    source = f"{HEADER}{imports}\n{template}"
    versions = f"{numba.__version__} {np.__version__} {sys.version_info[:2]}"
    needed = sorted(set(sources_of(space["lifted"]).values()))
    digest = hashlib.blake2b("\n".join([source, versions, *needed]).encode(), digest_size=10).hexdigest()
    stem = "-".join(f"{part.__module__}.{part.__qualname__}" for _, part in parts)
    try:
        return _import_generated(f"{stem}-{digest}", stem, source).compiled
    except OSError as error:
        warnings.warn(
            f"compiled code cannot be kept in {cache_folder()} ({error.strerror or error}), so every process"
            " compiles it again; allow writing there, or set RANKPLUG_CACHE to another folder",
            stacklevel=2,
        )
        return compile_with_own_copies(space["lifted"])


def _import_generated(name: str, stem: str, source: str) -> types.ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    folder = cache_folder() / "kernels"
    path = folder / f"{name}.py"
    text = (
        '"""Made by rankplug.compiled.lifting; safe to delete."""\n'
        f"{source}\n"
        "compiled = compile_with_own_copies(lifted, kept=True)\n"
    )
    if not _holds(path, text):
        write_whole(path, text.encode())
        with contextlib.suppress(OSError):
            _remove_old(folder, stem, keep=path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _holds(path: Path, text: str) -> bool:
    """Tell whether a file has a text; one that is cut off has not."""
    try:
        return path.read_bytes() == text.encode()
    except FileNotFoundError:
        return False


def _remove_old(folder: Path, stem: str, keep: Path) -> None:
    """Remove all but the newest few versions of a function that is being worked on."""
    versions = [path for path in folder.glob(f"{stem}-*.py") if path != keep and path.stem.rpartition("-")[0] == stem]
    versions.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in versions[OLD_VERSIONS_KEPT - 1 :]:
        for compiled in (folder / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink(missing_ok=True)
        path.unlink(missing_ok=True)


def writable(values: Any, name: str = "values") -> NDArray[np.float64]:
    """Return a contiguous, writable array, so that compiled functions see one type only; messages call it ``name``."""
    array: NDArray[np.float64] = numbers(values, name)
    return array if array.flags.writeable else array.copy()
