"""Compilation of losses, samplers and metrics before they are used, so that no fit waits for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankplug.compiled import ListFunction
from rankplug.errors import RankplugError, UnknownPluginError, did_you_mean
from rankplug.losses import loss
from rankplug.metrics import metric
from rankplug.registry import parse, registry
from rankplug.samplers import sampler
from rankplug.system import cache_folder

KINDS = ("loss", "sampler", "metric")
LABELS, SCORES, STARTS = (1.0, 0.0, 1.0, 0.0, 1.0), (0.1, 0.2, 0.3, 0.1, 0.2), (0, 3, 5)
"""Lists that every loss takes; the compiled form is the same for all."""


@dataclass(frozen=True)
class Compilation:
    """A plugin to compile, and the outcome.

    Args:
        kind: kind of the plugin.
        name: name of the plugin, with parameters where some are given.
        sampler: sampler over whose noise a loss is averaged, which is compiled into it.
        seconds: processor time that compiling took.
        kept: whether something new is in the cache; else it was there, or cannot be stored.
        problem: reason why it cannot be compiled, in a sentence.
    """

    kind: str
    name: str
    sampler: str = ""
    seconds: float = 0.0
    kept: bool = False
    problem: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}{f' under {self.sampler}' if self.sampler else ''}"

    def describe(self) -> dict[str, Any]:
        """Return it as plain values."""
        return dict(vars(self))


def to_compile(names: Sequence[str] = (), samplers: Sequence[str] = ()) -> list[Compilation]:
    """Return what would be compiled; raise if a plugin is not installed or nothing of it is compiled.

    Args:
        names: names of losses, samplers and metrics; all that are written for one list at a time, if there are none.
        samplers: names of samplers under each of which losses are compiled too.
    """
    for name in samplers:
        registry().resolve("sampler", name)
    plugins = [(kind, plugin.specification.name) for kind in KINDS for plugin in registry().plugins(kind)]
    if names:
        compiled = [(kind, name) for name in names for kind in _compiled_kinds(name, plugins)]
    else:
        compiled = [(kind, name) for kind, name in plugins if _is_compiled(kind, name)]
    return [
        Compilation(kind, name, under)
        for kind, name in dict.fromkeys(compiled)
        for under in ("", *(samplers if kind == "loss" else ()))
    ]


def _compiled_kinds(name: str, plugins: list[tuple[str, str]]) -> list[str]:
    """Return the kinds of a plugin that is written for one list at a time."""
    word = parse(name).name
    kinds = [kind for kind, other in plugins if other == word]
    if not kinds:
        raise UnknownPluginError(
            f"no loss, sampler or metric is called {word}: {did_you_mean(word, {other for _, other in plugins})}"
        )
    for kind in kinds:
        registry().resolve(kind, name)
    compiled = [kind for kind in kinds if _is_compiled(kind, name)]
    if not compiled:
        raise RankplugError(f"{kinds[0]} {word} is not written for one list at a time, so nothing of it is compiled")
    return compiled


def _is_compiled(kind: str, name: str) -> bool:
    try:
        return isinstance(registry().find(kind, name).specification.load(), ListFunction)
    except RankplugError:
        return False  # its user sees the error


def compile_ahead(compilations: Sequence[Compilation]) -> Iterator[Compilation]:
    """Compile one after another, and yield each with the time that it took.

    Args:
        compilations: see :func:`to_compile`.
    """
    for compilation in compilations:
        forms, began, problem = _stored_forms(), time.process_time(), ""
        try:
            if compilation.kind == "loss":
                loss(compilation.name).evaluate(SCORES, LABELS, STARTS, sampler=compilation.sampler or None)
            elif compilation.kind == "sampler":
                sampler(compilation.name).draw(SCORES, STARTS)
            else:
                metric(compilation.name)(SCORES, LABELS, STARTS)
        except RankplugError as error:
            problem = str(error)
        seconds = round(time.process_time() - began, 3)
        yield replace(compilation, seconds=seconds, kept=bool(_stored_forms() - forms), problem=problem)


def _stored_forms() -> set[str]:
    """Return the names of the compiled forms in the cache."""
    return {path.name for path in (cache_folder() / "kernels" / "__pycache__").glob("*.nbc")}
