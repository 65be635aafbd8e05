"""Functions that an author writes for one list, compiled by numba at their first use.

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
"""

from __future__ import annotations

import contextlib
import copyreg
import dis
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rankplug.compiled.identity import note_files, plain
from rankplug.errors import BrokenPluginError
from rankplug.registry import Parameters, literal_values
from rankplug.system import cache_folder, numbers

FASTMATH = frozenset({"reassoc", "nsz", "contract", "arcp"})
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PLACE = re.compile(r"\bat (\S[^\n]*?) \((\d+)\)")
CALLEE = re.compile(r"resolving callee type: type\(CPUDispatcher\(<function ([\w.<>]+) at")
QUOTED = re.compile(r"'(\w+)'")
NOT_A_REASON = ("Failed in nopython mode", "During:", "There are", "- Of which", "Overload of", "With argument")

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


def part(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that other compiled functions call; a decorator with the options of ``numba.njit``.

    Its callers contain it. Left to a call, the copy that is reached would depend on what the process has compiled or
    loaded before: numba has one inside the caller, optimised with it, and one alone, which may round differently. A
    process that compiles and one that loads the machine code would then disagree in last digits.
    """
    return njit(**{"forceinline": True, "no_cfunc_wrapper": True, **options})


def building_block(function: Callable[..., Any]) -> Any:
    """Compile a part of a function of one list with the same settings as the whole; a decorator."""
    return part(nogil=True, error_model="numpy", fastmath=set(FASTMATH))(function)


class NamedFunction:
    """A function with its name, documentation and argument names, pickled by reference."""

    supplied: frozenset[str] = frozenset()
    """Names of arguments that the framework hands over."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not inspect.isfunction(function):
            raise BrokenPluginError(f"{function!r} is not a function written in Python, which this decorator needs")
        self.function = function
        self.arguments = tuple(inspect.signature(function).parameters)
        self.wants = tuple(name for name in self.arguments if name not in self.supplied)
        """Names of the plugin's parameters among the arguments."""
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

    def value_of(self, parameters: Parameters, name: str) -> Any:
        """Return the value of one parameter that the function takes."""
        if not hasattr(parameters, name):
            raise BrokenPluginError(
                f"{self.__module__}.{self.__name__} has an argument {name} that is neither supplied"
                f" ({', '.join(sorted(self.supplied))}) nor a field of {type(parameters).__name__}"
            )
        return getattr(parameters, name)


class ListFunction(NamedFunction):
    """A function of one list, compiled at first use; pickled by reference."""

    def __init__(self, function: Callable[..., Any], fastmath: frozenset[str] | bool = FASTMATH) -> None:
        super().__init__(function)
        self.fastmath = fastmath
        note_files(function)

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

    def numbers(self, parameters: Parameters) -> tuple[float | int | bool, ...]:
        """Return the values of the parameters that the function takes, in the form a compiled function needs."""
        return tuple(self._number(parameters, name) for name in self.wants)

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


def call_of_list(function: ListFunction, parameters: str, scores: str | None = None) -> str:
    """Return the arguments of a call inside a loop over lists, as source."""
    return function.call(EXPRESSIONS | ({"scores": scores} if scores else {}), parameters)


@contextlib.contextmanager
def explained_compile_errors(function: NamedFunction) -> Iterator[None]:
    """Turn numba's failure to compile a function of one list into a sentence with the place in its source.

    numba reports such an error for every function that it went through, the loops around the author's first.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, BrokenPluginError) or not _compiling(error):
            raise
        path, line = _place_of(error, function)
        raise BrokenPluginError(
            f"{function.__name__} cannot be compiled: {_reason_of(error)}, at {path}, line {line}"
        ) from error


def _compiling(error: Exception) -> bool:
    """Tell whether numba's compiler raised an error, rather than the code it compiled."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "_compile_for_args":
            return True
        trace = trace.tb_next
    return False


def _reason_of(error: Exception) -> str:
    """Return the first thing that numba says about the code itself, in one line."""
    lines = [line.strip() for line in COLOURS.sub("", str(error)).splitlines()]
    reasons = [line for line in lines if line and not line.startswith(NOT_A_REASON)]
    reason = reasons[0] if reasons else type(error).__name__
    if reason.endswith("found for signature:") and len(reasons) > 1:
        reason = f"{reason.removesuffix(' found for signature:')} for {reasons[1].removeprefix('>>> ')}"
    if reason.endswith("(float64, none)"):
        reason = "it returns None in place of a number"
    return reason.removesuffix(".. Raised from None").rstrip(".")


def _place_of(error: Exception, function: NamedFunction) -> tuple[str, int]:
    """Return the file and line of the author's code; its first line where numba does not say which one it is."""
    text = COLOURS.sub("", str(error))
    generated = str(cache_folder())
    callee = CALLEE.search(text)
    innermost = _callee(callee[1] if callee else function.__name__, function.function)
    for match in PLACE.finditer(text[: callee.start()] if callee else text):
        if not match[1].startswith(("<", generated)):
            return match[1], int(match[2])
    words = set(QUOTED.findall(text.split("During:")[0]))
    steps = [step for step in dis.get_instructions(innermost) if step.argval in words and step.positions]
    lines = [step.positions.lineno for step in steps if step.positions]
    return innermost.__code__.co_filename, next((line for line in lines if line), innermost.__code__.co_firstlineno)


def _callee(name: str, function: Any) -> types.FunctionType:
    """Return the function that a name stands for in the code of another function."""
    value = function.__globals__.get(name, function)
    inner = plain(value)
    return inner if isinstance(inner, types.FunctionType) else function


def writable(values: Any, name: str = "values") -> NDArray[np.float64]:
    """Return a contiguous, writable array, so that compiled functions see one type only; messages call it ``name``."""
    array: NDArray[np.float64] = numbers(values, name)
    return array if array.flags.writeable else array.copy()
