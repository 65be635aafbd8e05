"""Machine code whose results do not depend on what else a process compiled or loaded, kept in a file where possible.

numba compiles each function that another one calls twice: alone, and as a copy inside the caller, which LLVM optimises
together with the caller. Both go by one name. Which of them a call reaches depends on what the process has compiled or
loaded before: the process that compiles the caller reaches the first, one that loads the caller from a file the second.
The two may round differently, so results would depend on whether a cache was full. Copies that only their caller can
name leave no choice.

A file that was cut off or damaged, as by a machine that lost its power, is as none: numba would fail at it for ever.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite.binding import Linkage
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

try:
    from numba.core.caching import InTreeCacheLocator
except ImportError:
    # Its name in older versions.
    from numba.core.caching import _InTreeCacheLocator as InTreeCacheLocator

SEAL = b"rankplug"
"""Letters before the digest at the end of a file; one without them was written by an earlier version."""
DIGEST = 16
"""Bytes of the digest."""


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
        result = super().compile_extra(func)
        for environment in result._find_referenced_environments():
            # Those of parts, of which there is no code of their own to give them to.
            library.codegen.set_env(environment.env_name, environment)
        return result


class _BesideTheSource(InTreeCacheLocator):  # type: ignore[misc]
    """A folder that may be read-only, as one that several users share may be."""

    def ensure_cache_path(self) -> None:
        with contextlib.suppress(OSError):
            super().ensure_cache_path()


class _Files(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_BesideTheSource,)


class _SealedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """Files that end with a digest of what they hold, so that a damaged one is made again."""

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return data + SEAL + _digest(data)

    def _load_index(self) -> dict[Any, str]:
        try:
            with Path(self._index_path).open("rb") as file:
                if pickle.load(file) != self._version:
                    return {}
                stamp, overloads = pickle.loads(_unsealed(file.read()))
        except Exception:
            # What a damaged file makes pickle raise may be anything.
            return {}
        return overloads if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        try:
            return pickle.loads(_unsealed(Path(self._data_path(name)).read_bytes()))
        except Exception as error:
            # Of numba's own errors only this one makes it compile again.
            raise OSError(f"{name} is damaged") from error


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST).digest()


def _unsealed(data: bytes) -> bytes:
    content, seal = data[: -DIGEST - len(SEAL)], data[-DIGEST - len(SEAL) : -DIGEST]
    if seal != SEAL:
        return data
    if _digest(content) != data[-DIGEST:]:
        raise ValueError("the content is not what was written")
    return content


class _Kept(FunctionCache):  # type: ignore[misc]
    """Files of machine code; where none can be written, the next process compiles again."""

    _impl_class = _Files

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _SealedFiles(self._cache_path, self._impl.filename_base, stamp)

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


def compile_with_own_copies(function: Callable[..., Any], kept: bool = False) -> Any:
    """Return the compiled form of a function, which is made at its first call.

    Args:
        function: whatever numba compiles.
        kept: whether to keep its machine code beside its source, and take it from there.
    """
    compiled = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, pipeline_class=_CompilerOfOwnCopies)(
        function
    )
    if kept:
        compiled._cache = _Kept(function)
    return compiled
