"""Functions an author writes, whose arguments say by their names what they need; found again by name when pickled.

One that no other process finds by its name, such as one of a notebook's cell, is pickled with its code, which takes
``cloudpickle``.
"""

from __future__ import annotations

import copyreg
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from rankplug.errors import BrokenPluginError
from rankplug.registry import Parameters


class NamedFunction:
    """A function with its name, documentation and argument names, pickled by reference."""

    supplied: frozenset[str] = frozenset()
    """Names of arguments that the framework hands over."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not inspect.isfunction(function):
            raise BrokenPluginError(f"{function!r} is not a function written in Python, which this decorator needs")
        self.function = function
        self.arguments = tuple(inspect.signature(function).parameters)
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__qualname__ = function.__qualname__
        self.__wrapped__ = function

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self.importable:
            return self.__qualname__
        state = {name: value for name, value in vars(self).items() if name != "compiled"}
        return copyreg.__newobj__, (type(self),), state  # type: ignore[attr-defined]

    @property
    def importable(self) -> bool:
        """Tell whether another process can import the function by its name."""
        value: Any = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            value = getattr(value, part, None)
        return value is self and self.__module__ != "__main__"

    @property
    def wants(self) -> tuple[str, ...]:
        """Names of the plugin's parameters among the arguments."""
        return tuple(name for name in self.arguments if name not in self.supplied)

    def value_of(self, parameters: Parameters, name: str) -> Any:
        """Return the value of one parameter that the function takes."""
        if not hasattr(parameters, name):
            raise BrokenPluginError(
                f"{self.__module__}.{self.__name__} has an argument {name} that is neither supplied"
                f" ({', '.join(sorted(self.supplied))}) nor a field of {type(parameters).__name__}"
            )
        return getattr(parameters, name)


def names_used(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function uses by name: globals, also of functions inside it, and what it closes over."""
    inside = [function.__code__]
    while inside:
        code = inside.pop()
        inside += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
        yield from ((name, function.__globals__[name]) for name in code.co_names if name in function.__globals__)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    yield from ((name, cell.cell_contents) for name, cell in cells)
