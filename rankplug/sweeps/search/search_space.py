"""Combinations among which a search looks: the values of every grid in some parts, each an axis of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankplug.errors import GrammarError
from rankplug.registry import BackendSpecification, Grid, Reference, ScorerSpecification, expand, parse, registry
from rankplug.store import Combination, read_combination

SEARCHED = ("backend", "scorer", "loss", "sampler")
"""Parts whose grids are searched; the others are the same for all candidates."""
MOST_CANDIDATES = 10**9


@dataclass(frozen=True)
class Axis:
    """Values that a search may choose from.

    Args:
        part: of the combination.
        parameter: of the plugin in that part; empty where whole plugins are chosen from.
        values: the choices.
    """

    part: str
    parameter: str
    values: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.part} {self.parameter}".strip()


class SearchSpace:
    """Every choice of a value for each axis.

    Where a backend or scorer is named without a grid, the axes are those that its plugin suggests, without parameters
    that are given. If there are no others, ``usual`` is the combination with none of the suggested values.

    Args:
        parts: of the combinations, with grids in the grammar of a sweep.
    """

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.fixed = dict(parts)
        self.axes: list[Axis] = []
        self.usual: Combination | None = None
        named = False
        if not self.fixed.get("scorer") and self.fixed.get("backend"):
            backends = _listed(self.fixed["backend"])
            names = {registry().specification("backend", backend).default_scorer for backend in backends}
            self.fixed["scorer"] = names.pop() if len(names) == 1 else ""
        for part in SEARCHED:
            if self.fixed.get(part):
                named |= self._add(part, _listed(self.fixed[part]))
        self.candidate([0] * len(self.axes))
        if not self.axes:
            raise GrammarError(
                "nothing is left to choose from: name values, such as scorer=trees[leaves=[7,31]], or a backend or"
                " scorer that suggests some"
            )
        if self.size > MOST_CANDIDATES:
            raise GrammarError(f"a search is among at most {MOST_CANDIDATES:,} candidates, not {self.size:,}")
        if not named:
            self.usual = read_combination(self.fixed).validate_plugins()

    def _add(self, part: str, references: list[Any]) -> bool:
        """Add the axes of a part, and return whether it was given with values to choose from."""
        if len(references) > 1:
            every = tuple(str(single) for reference in references for single in expand(reference))
            self.axes.append(Axis(part, "", every))
            return True
        given = parse(references[0])
        if not (named := _has_grid(given)) and part in ("backend", "scorer"):
            suggested = suggested_grid(part, given)
            own = parse(suggested).parameters if suggested else {}
            given = Reference(given.name, {**own, **given.parameters}, given.distribution)
        plain = {}
        for name, value in given.parameters.items():
            choices = [single.parameters[name] for single in expand(Reference(given.name, {name: value}))]
            if len(choices) > 1:
                self.axes.append(Axis(part, name, tuple(choices)))
            else:
                plain[name] = choices[0]
        self.fixed[part] = Reference(given.name, plain, given.distribution)
        return named

    @property
    def size(self) -> int:
        """Number of candidates."""
        return math.prod(len(axis.values) for axis in self.axes)

    def candidate(self, chosen: Sequence[int]) -> Combination:
        """Return the combination of the chosen value on each axis."""
        parts = dict(self.fixed)
        for axis, index in zip(self.axes, chosen, strict=True):
            value = axis.values[index]
            if axis.parameter:
                plugin = parse(parts[axis.part])
                value = Reference(plugin.name, {**plugin.parameters, axis.parameter: value}, plugin.distribution)
            parts[axis.part] = value
        return read_combination(parts).validate_plugins()

    def draw(self, count: int, seed: int) -> list[Combination]:
        """Draw different candidates at random, or return all where there are no more; more draws begin as fewer."""
        noise = np.random.default_rng(seed)
        shape = tuple(len(axis.values) for axis in self.axes)
        numbers: dict[int, None] = {}
        while len(numbers) < min(count, self.size):
            numbers.setdefault(int(noise.integers(self.size)))
        return [self.candidate([int(index) for index in np.unravel_index(number, shape)]) for number in numbers]


def suggested_grid(part: str, plugin: Reference) -> str:
    """Return the grid of its parameters that a backend or scorer suggests to search."""
    kind = BackendSpecification if part == "backend" else ScorerSpecification
    specification = registry().specification(part, plugin)
    return specification.search if isinstance(specification, kind) else ""


def _listed(value: Any) -> list[Any]:
    values = value.values if isinstance(value, Grid) else value
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _has_grid(value: Any) -> bool:
    if isinstance(value, Reference):
        return any(map(_has_grid, value.parameters.values()))
    return isinstance(value, Grid) or (isinstance(value, tuple) and any(map(_has_grid, value)))
