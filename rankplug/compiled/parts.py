"""Parts: functions that other compiled functions call.

numba makes of each function that another one calls what Python would need to call it by itself: two wrappers, and
machine code of them and of the function. Its caller takes none of that, as it compiles a copy. Leaving it out, until
Python does call it, saves much of the time that a loss needs to compile, and changes no bit of its results.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from numba import config, njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

WITHOUT = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of numba by which it makes no wrappers."""


class _NoEnvironments:
    """Stands for the memory of a process where nothing was put into it."""

    def set_env(self, name: str, environment: Any) -> None:
        """Keep no address of objects that code refers to: the caller's machine code gets them."""


class _CodeToCopy(JITCodeLibrary):  # type: ignore[misc]
    """Code that callers copy, and nobody runs."""

    codegen = _NoEnvironments()

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        if not name.startswith("_ZN7cpython"):
            raise NotImplementedError(f"{name} is a part of other functions, and has no address to hand on")
        self._ensure_finalized()
        return 0


class _CompilerOfParts(Compiler):  # type: ignore[misc]
    def compile_extra(self, func: Callable[..., Any]) -> Any:
        self.state.library = _CodeToCopy(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class _Part(CPUDispatcher):  # type: ignore[misc]
    """A function whose code its callers copy; Python calls another form of it, which is compiled at the first call."""

    def __init__(
        self,
        py_func: Callable[..., Any],
        locals: Mapping[str, Any] | None = None,
        targetoptions: Mapping[str, Any] | None = None,
        pipeline_class: type[Compiler] = _CompilerOfParts,
    ) -> None:
        super().__init__(py_func, dict(locals or {}), {**(targetoptions or {}), **WITHOUT}, pipeline_class)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.alone(*arguments, **named)

    @functools.cached_property
    def alone(self) -> Any:
        """The form that Python calls."""
        return njit(**{name: value for name, value in self.targetoptions.items() if name not in WITHOUT})(self.py_func)


def part(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that other compiled functions call; a decorator with the options of ``numba.njit``."""

    def decorate(function: Callable[..., Any]) -> Any:
        return function if config.DISABLE_JIT else _Part(function, targetoptions=options)

    return decorate
