"""Machine code whose results do not depend on what else a process compiled or loaded, kept in a file where possible.

numba compiles each function that another one calls twice: alone, and as a copy inside the caller, which LLVM optimises
together with the caller. Both go by one name. Which of them a call reaches depends on what the process has compiled or
loaded before: the process that compiles the caller reaches the first, one that loads the caller from a file the second.
The two may round differently, so results would depend on whether a cache was full. Copies that only their caller can
name leave no choice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from llvmlite.binding import Linkage
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _OwnCopies(JITCodeLibrary):  # type: ignore[misc]
    """Machine code in which the copies of other functions are private."""

    def _finalize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = "internal"
        super()._finalize_final_module()


class _CompilerOfOwnCopies(Compiler):  # type: ignore[misc]
    def compile_extra(self, func: Callable[..., Any]) -> Any:
        library = _OwnCopies(self.state.targetctx.codegen(), func.__qualname__)
        library.enable_object_caching()
        self.state.library = library
        return super().compile_extra(func)


class _BesideTheSource(InTreeCacheLocator):  # type: ignore[misc]
    """A folder that may be read-only, as one that several users share may be."""

    def ensure_cache_path(self) -> None:
        with contextlib.suppress(OSError):
            super().ensure_cache_path()


class _Files(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_BesideTheSource,)


class _Kept(FunctionCache):  # type: ignore[misc]
    """Files of machine code; where none can be written, the next process compiles again."""

    _impl_class = _Files

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


def compile_with_own_copies(function: Callable[..., Any], kept: bool = False) -> Any:
    """Return the compiled form of a function, which is made at its first call.

    Args:
        function: whatever numba compiles.
        kept: whether to keep its machine code beside its source, and take it from there.
    """
    compiled = njit(nogil=True, error_model="numpy", pipeline_class=_CompilerOfOwnCopies)(function)
    if kept:
        compiled._cache = _Kept(function)
    return compiled
