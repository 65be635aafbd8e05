"""Compiled functions of arrays and numbers, kept between processes until a file they are written in changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from rankplug.compiled.lifting import ListFunction, make


class ArrayFunction(ListFunction):
    """A compiled function of arrays and numbers, in strict arithmetic; it releases the interpreter's lock."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, fastmath=False)

    @cached_property
    def kept(self) -> Any:
        """The compiled function, from an earlier process where there was one."""
        arguments = ", ".join(self.arguments)
        return make(f"def lifted({arguments}):\n    return function({arguments})\n", {"function": self})

    def __call__(self, *arguments: Any) -> Any:
        return self.kept(*arguments)
