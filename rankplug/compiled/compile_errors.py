"""One sentence, with file and line, for a function of one list that numba cannot compile.

numba tells such an error once for every function it went through, the loops that were written around it first.
"""

from __future__ import annotations

import contextlib
import dis
import re
import types
from collections.abc import Iterator
from typing import Any

from rankplug.compiled.named_functions import NamedFunction
from rankplug.errors import BrokenPluginError
from rankplug.system import cache_folder

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PLACE = re.compile(r"\bat (\S[^\n]*?) \((\d+)\)")
CALLEE = re.compile(r"resolving callee type: type\(CPUDispatcher\(<function ([\w.<>]+) at")
QUOTED = re.compile(r"'(\w+)'")
NOT_A_REASON = ("Failed in nopython mode", "During:", "There are", "- Of which", "Overload of", "With argument")


@contextlib.contextmanager
def told_in_a_sentence(function: NamedFunction) -> Iterator[None]:
    """Turn numba's failure to compile a function of one list into a sentence with the place in its source."""
    try:
        yield
    except Exception as error:
        if isinstance(error, BrokenPluginError) or not _compiling(error):
            raise
        path, line = place_of(error, function)
        raise BrokenPluginError(
            f"{function.__name__} cannot be compiled: {reason_of(error)}, at {path}, line {line}"
        ) from error


def _compiling(error: Exception) -> bool:
    """Tell whether numba's compiler raised an error, rather than the code it compiled."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name == "_compile_for_args":
            return True
        trace = trace.tb_next
    return False


def reason_of(error: Exception) -> str:
    """Return the first thing that numba says about the code itself, in one line."""
    lines = [line.strip() for line in COLOURS.sub("", str(error)).splitlines()]
    told = [line for line in lines if line and not line.startswith(NOT_A_REASON)]
    reason = told[0] if told else type(error).__name__
    if reason.endswith("found for signature:") and len(told) > 1:
        reason = f"{reason.removesuffix(' found for signature:')} for {told[1].removeprefix('>>> ')}"
    if reason.endswith("(float64, none)"):
        reason = "it returns None in place of a number"
    return reason.removesuffix(".. Raised from None").rstrip(".")


def place_of(error: Exception, function: NamedFunction) -> tuple[str, int]:
    """Return the file and line of the author's code; its first line where numba does not say which one it is."""
    text = COLOURS.sub("", str(error))
    generated = str(cache_folder())
    callee = CALLEE.search(text)
    innermost = _named(callee[1] if callee else function.__name__, function.function)
    for match in PLACE.finditer(text[: callee.start()] if callee else text):
        if not match[1].startswith(("<", generated)):
            return match[1], int(match[2])
    words = set(QUOTED.findall(text.split("During:")[0]))
    steps = [step for step in dis.get_instructions(innermost) if step.argval in words and step.positions]
    lines = [step.positions.lineno for step in steps if step.positions]
    return innermost.__code__.co_filename, next((line for line in lines if line), innermost.__code__.co_firstlineno)


def _named(name: str, function: Any) -> types.FunctionType:
    """Return the function that a name stands for in the code of another function."""
    value = function.__globals__.get(name, function)
    plain = getattr(value, "py_func", getattr(value, "function", value))
    return plain if isinstance(plain, types.FunctionType) else function
