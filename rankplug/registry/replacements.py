"""Replacements that a plugin makes in libraries, or changes of the process, while it is imported; they are put back.

A plugin that replaces functions is refused. What it changes in the process, such as the working folder or what NumPy
does at a division by zero, is put back, as libraries do such things without meaning harm.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from rankplug.errors import BrokenPluginError
from rankplug.registry.loading import own_packages

WATCHED = ("numpy", "numpy.random", "numpy.linalg", "torch", "torch.nn.functional")
"""Modules of which no name may be replaced."""
WATCHED_DEEPLY = (
    "numpy", "scipy", "rankplug", "pandas", "sklearn", "pyarrow", "duckdb", "lightgbm", "xgboost", "pydantic",
    "builtins", "functools", "hashlib", "itertools", "json", "math", "operator", "os", "random", "shutil",
    "statistics", "tempfile", "time", "zipfile",
)  # fmt: skip
"""Packages of which no function or class may be replaced, however deep it lies."""
USUAL_RECURSION = 1000
"""A limit that is no smaller may be what a library needs."""


class ReplacementError(BrokenPluginError):
    """A plugin that replaces what others use."""


@contextlib.contextmanager
def without_replacements(root: str) -> Iterator[None]:
    """Raise an error if the block replaces functions of the libraries that others use, and restore them.

    Args:
        root: package the block imports; functions of it found in a library that came with it are replacements too.
            Those of rankplug's own packages are not looked for.
    """
    if root in own_packages():
        yield
        return
    before = {id(owner): dict(vars(owner)) for _, owner, _ in _watched()}
    try:
        yield
    finally:
        replaced = [
            change
            for name, owner, deep in list(_watched())
            for change in _changes(name, owner, before.get(id(owner)), root, deep)
        ]
        replaced.sort(key=lambda name: (name.count("."), name))
    if replaced:
        raise ReplacementError(
            f"it replaces {', '.join(replaced[:5])}{' and more' if len(replaced) > 5 else ''}, which would change the"
            " results of every other plugin"
        )


def _watched() -> Iterator[tuple[str, Any, bool]]:
    """Give modules and classes, with their names, and whether only functions and classes in them matter."""
    deep = {*WATCHED_DEEPLY, *own_packages()}
    for name, module in list(sys.modules.items()):
        root = name.partition(".")[0]
        if name in WATCHED:
            yield name, module, False
        elif root in deep and isinstance(getattr(module, "__dict__", None), dict):
            yield name, module, True
            if root in own_packages():
                yield from (
                    (f"{name}.{value.__name__}", value, True)
                    for value in list(vars(module).values())
                    if isinstance(value, type) and value.__module__ == name
                )
    if hasattr(sys.modules.get("torch"), "Tensor"):
        yield "torch.Tensor", sys.modules["torch"].Tensor, False


def _changes(name: str, owner: Any, before: dict[str, Any] | None, root: str, deep: bool) -> Iterator[str]:
    for attribute, value in list(vars(owner).items()):
        if attribute.startswith("__"):
            continue
        known = before is not None and attribute in before
        if before is not None and known:
            old = before[attribute]
            if value is old or (deep and not _is_fixed(attribute, old, name)) or _written_in(value, name):
                continue
            setattr(owner, attribute, old)
            yield f"{name}.{attribute}"
        elif callable(value) and (getattr(value, "__module__", "") or "").partition(".")[0] == root:
            if before is not None:
                delattr(owner, attribute)
            yield f"{name}.{attribute}"


def _is_fixed(attribute: str, value: Any, module: str) -> bool:
    """Tell whether what a module calls so stays: functions and classes, and constants of rankplug's own modules."""
    return callable(value) or (attribute.isupper() and module.partition(".")[0] in own_packages())


def _written_in(function: Any, module: str) -> bool:
    """Tell whether a library replaces its own function, as PyTorch does on importing ``torch._dynamo``."""
    path = getattr(getattr(function, "__code__", None), "co_filename", "")
    library = sys.modules[module.partition(".")[0]]
    file = getattr(library, "__file__", None) or "nowhere"
    return path.startswith(os.path.dirname(file) + os.sep) if hasattr(library, "__path__") else path == file


@contextlib.contextmanager
def without_changes() -> Iterator[list[str]]:
    """Put back what the block changes in this process; yield the names of what it was, at the end."""
    before = {name: look() for name, (look, _) in _STATES.items()}
    changed: list[str] = []
    try:
        yield changed
    finally:
        for name, (look, put_back) in _STATES.items():
            if look() != before[name]:
                with contextlib.suppress(OSError, ValueError):
                    put_back(before[name])
                    changed.append(name)


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _own_variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("RANKPLUG_")}


def _put_back_own_variables(before: dict[str, str]) -> None:
    for name in _own_variables().keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


def _file_mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _signals() -> dict[int, Any]:
    return {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}


def _put_back_signals(before: dict[int, Any]) -> None:
    if threading.current_thread() is threading.main_thread():
        for number, handler in before.items():
            # None: something other than Python handles it.
            if handler is not None:
                signal.signal(number, handler)


def _strict_warnings() -> list[Any]:
    return [entry for entry in warnings.filters if entry[0] == "error"]


def _put_back_strict_warnings(before: list[Any]) -> None:
    filters: Any = warnings.filters
    filters[:] = [entry for entry in filters if entry[0] != "error" or entry in before]
    # What happens anyway to a warning that no filter knows; adding a filter tells that they are others now.
    warnings.simplefilter("default", append=True)


def _float_errors() -> Any:
    import numpy

    return numpy.geterr()


def _put_back_float_errors(before: Any) -> None:
    import numpy

    numpy.seterr(**before)


def _torch_numbers() -> str:
    """Name PyTorch's kind of numbers; where it is not there yet, the one that it has by itself."""
    torch: Any = sys.modules.get("torch")
    return str(torch.get_default_dtype()) if hasattr(torch, "get_default_dtype") else "torch.float32"


def _put_back_torch_numbers(before: str) -> None:
    torch = sys.modules["torch"]
    torch.set_default_dtype(getattr(torch, before.removeprefix("torch.")))


_STATES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "the working folder": (_working_folder, os.chdir),
    "variables of rankplug": (_own_variables, _put_back_own_variables),
    "the rights of new files": (_file_mask, os.umask),
    "signals": (_signals, _put_back_signals),
    "the limit of recursion": (lambda: min(sys.getrecursionlimit(), USUAL_RECURSION), sys.setrecursionlimit),
    "warnings that are errors": (_strict_warnings, _put_back_strict_warnings),
    "NumPy's floating-point errors": (_float_errors, _put_back_float_errors),
    "PyTorch's kind of numbers": (_torch_numbers, _put_back_torch_numbers),
    "the profiler": (sys.getprofile, sys.setprofile),
    "the collection of garbage": (gc.isenabled, lambda enabled: gc.enable() if enabled else gc.disable()),
}
"""States of the process that plugins change: how to look at each, and how to put it back."""
