"""Compiles losses, samplers and metrics before they are used, so that no fit waits for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    """A plugin that is compiled, or was.

    Args:
        kind: of the plugin.
        name: with parameters, where some are given.
        sampler: over whose noise a loss is averaged, which is compiled into it.
        seconds: of the processor that it took.
        kept: whether something new is in the cache now; else it was there, or cannot be kept.
        problem: why it cannot be compiled, in a sentence.
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
    """Return what would be compiled; names of plugins that are not installed are refused.

    Args:
        names: of losses, samplers and metrics; all that are written for one list at a time, if none is given.
        samplers: under each of which losses are compiled too.
    """
    for name in samplers:
        registry().resolve("sampler", name)
    chosen = [pair for name in names for pair in _named(name)] or [
        (kind, plugin.specification.name)
        for kind in KINDS
        for plugin in registry().plugins(kind)
        if isinstance(_implementation(kind, plugin.specification.name), ListFunction)
    ]
    return [
        Compilation(kind, name, under)
        for kind, name in dict.fromkeys(chosen)
        for under in ("", *(samplers if kind == "loss" else ()))
    ]


def compile_ahead(compilations: Sequence[Compilation]) -> Iterator[Compilation]:
    """Compile one after another, and yield each with the time that it took.

    Args:
        compilations: see :func:`to_compile`.
    """
    for wanted in compilations:
        before, began, problem = _kept_forms(), time.process_time(), ""
        try:
            _use(wanted)
        except RankplugError as error:
            problem = str(error)
        seconds = round(time.process_time() - began, 3)
        yield Compilation(
            wanted.kind, wanted.name, wanted.sampler, seconds, kept=bool(_kept_forms() - before), problem=problem
        )


def _named(name: str) -> list[tuple[str, str]]:
    """Return the kinds in which a name is known, with it."""
    wanted = parse(name).name
    known = {plugin.specification.name for kind in KINDS for plugin in registry().plugins(kind)}
    if wanted not in known:
        raise UnknownPluginError(f"no loss, sampler or metric is called {wanted}: {did_you_mean(wanted, known)}")
    kinds = [kind for kind in KINDS if wanted in {plugin.specification.name for plugin in registry().plugins(kind)}]
    compiled = []
    for kind in kinds:
        registry().resolve(kind, name)
        if isinstance(_implementation(kind, name), ListFunction):
            compiled.append((kind, name))
    if not compiled:
        raise RankplugError(f"{kinds[0]} {wanted} is not written for one list at a time, so nothing of it is compiled")
    return compiled


def _implementation(kind: str, name: str) -> Any:
    """Return what a plugin is implemented by; None where that cannot be loaded, which its user is told."""
    try:
        return registry().find(kind, name).specification.load()
    except RankplugError:
        return None


def _use(wanted: Compilation) -> None:
    """Use a plugin once, which compiles it."""
    if wanted.kind == "loss":
        loss(wanted.name).evaluate(SCORES, LABELS, STARTS, sampler=wanted.sampler or None)
    elif wanted.kind == "sampler":
        sampler(wanted.name).draw(SCORES, STARTS)
    else:
        metric(wanted.name)(SCORES, LABELS, STARTS)


def _kept_forms() -> set[str]:
    """Return the names of the compiled forms in the cache."""
    return {path.name for path in (cache_folder() / "kernels" / "__pycache__").glob("*.nbc")}
