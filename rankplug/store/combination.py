"""A combination of plugins as data: validated, hashable, and the name of its results.

>>> one = Combination(dataset="ohsumed", backend="torch", loss="cross_entropy", sampler="gumbel[beta=1.0]")
>>> str(one)
'ohsumed / torch / cross_entropy x gumbel[beta=1.0]'
>>> one == Combination(dataset="ohsumed", backend="torch", loss="cross_entropy", sampler="gumbel[ beta = 1.0 ]")
True
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from rankplug.errors import FitError, GrammarError, NotRunError, ParameterError, did_you_mean, shown
from rankplug.registry import (
    MOST_CHOICES,
    Grid,
    describe_type,
    expand,
    import_object,
    parse,
    registry,
)
from rankplug.store.description import describe_debiasing, describe_plugin, identity_of
from rankplug.system import version_of
from rankplug.training import LOSS

METRICS = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10")
KIND_OF_PART = {
    "dataset": "dataset",
    "backend": "backend",
    "loss": "loss",
    "sampler": "sampler",
    "scorer": "scorer",
}
KIND_OF_PARTS = {"transforms": "transform", "selection": "metric", "metrics": "metric"}
PLUGIN_PARTS = {**KIND_OF_PART, **KIND_OF_PARTS}
"""The kind of plugin that each part of a combination names."""


class Combination(BaseModel):
    """A model to train, the data to train it on, and the metrics to measure; folds and trials are counted apart.

    Args:
        dataset: such as ``synthetic[queries=600]``.
        transforms: applied to the data in order.
        backend: such as ``lightgbm``.
        scorer: such as ``trees[leaves=31]``; the backend's default when empty.
        loss: such as ``xe_ndcg``.
        sampler: such as ``gumbel[beta=0.25]``; none when empty.
        selection: the metrics on validation data that pick the iteration, compared in their order; ``loss`` is the
            validation loss.
        patience: iterations without improvement after which training stops.
        metrics: measured on test data, query by query.
        seed: the experiment's master seed, of which each trial has a child.
        debias: takes the bias of positions out of clicks, such as ``ips``; none when empty.
        train_curve: whether learning curves have training data too, which takes time and changes no model.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    dataset: str
    backend: str
    loss: str
    scorer: str = ""
    sampler: str = ""
    transforms: tuple[str, ...] = ()
    selection: tuple[str, ...] = Field(("ndcg@5",), min_length=1)
    patience: int | None = Field(None, ge=1)
    metrics: tuple[str, ...] = METRICS
    seed: int = Field(0, ge=0)
    debias: str = ""
    train_curve: bool = True

    def __init__(self, **parts: Any) -> None:
        try:
            super().__init__(**parts)
        except ValidationError as error:
            raise _sentence(error) from None

    @field_validator("dataset", "backend", "loss", "scorer", "sampler", "debias", mode="before")
    @classmethod
    def _canonical(cls, value: Any) -> str:
        return "" if value is None or value == "" else str(parse(value))

    @field_validator("transforms", "selection", "metrics", mode="before")
    @classmethod
    def _canonical_parts(cls, value: Any) -> tuple[str, ...]:
        parts = value or () if isinstance(value, (list, tuple, set, type(None))) else [value]
        return tuple(str(parse(part)) for part in parts)

    @field_validator("patience", "seed")
    @classmethod
    def _fits_a_result(cls, value: int | None) -> int | None:
        if value is not None and value >= 1 << 63:
            raise ValueError("results hold numbers below 2^63")
        return value

    def validate_plugins(self) -> Combination:
        """Check that every plugin is found and its parameters are valid, and return the combination."""
        plugins = registry()
        for part, kind in KIND_OF_PART.items():
            if reference := getattr(self, part):
                plugins.resolve(kind, reference)
        for part, kind in KIND_OF_PARTS.items():
            for reference in self._references(part):
                plugins.resolve(kind, reference)
        if self.debias:
            describe_debiasing(self.debias)
        return self

    def _references(self, part: str) -> list[str]:
        """Return the references in a part with several; choosing by the loss itself needs no plugin."""
        return [reference for reference in getattr(self, part) if (part, reference) != ("selection", LOSS)]

    @property
    def fits(self) -> bool:
        """Tell whether the backend can fit the scorer."""
        if not self.scorer:
            return True
        specification = registry().specification("scorer", self.scorer)
        return parse(self.backend).name in specification.fitted_by

    @cached_property
    def plugins(self) -> dict[str, list[dict[str, Any]]]:
        """The plugin behind each part, with its distribution, version and all parameters, the defaults included."""
        named = [(part, kind, [getattr(self, part)]) for part, kind in KIND_OF_PART.items() if getattr(self, part)]
        named += [(part, kind, self._references(part)) for part, kind in KIND_OF_PARTS.items()]
        if not self.scorer:
            backend = registry().specification("backend", self.backend)
            named.append(("scorer", "scorer", [backend.default_scorer]))
        return {
            part: [describe_plugin(kind, reference) for reference in references] for part, kind, references in named
        }

    @cached_property
    def versions(self) -> dict[str, str]:
        """Versions of the distributions that offer its plugins, and of the packages its backend trains with."""
        versions = {
            plugin["distribution"]: plugin["version"] for plugins in self.plugins.values() for plugin in plugins
        }
        backend = registry().specification("backend", self.backend)
        for package in backend.requires:
            if version := version_of(package):
                versions[package] = version
        return dict(sorted(versions.items()))

    @cached_property
    def data_fingerprint(self) -> str:
        """Fingerprint of the data, which is found without reading them; empty if the parameters determine them."""
        specification, parameters = registry().resolve("dataset", self.dataset)
        say = specification.fingerprint
        if isinstance(say, str) and say:
            say = import_object(say, str(specification))
        return str(say(parameters)) if say else ""

    @cached_property
    def identity(self) -> str:
        """The name of its results: a digest of everything that changes them, and of nothing else."""
        return identity_of(self.plugins, self.versions, self.__dict__, self.data_fingerprint)

    def check_as_planned(self) -> None:
        """Raise an error if data or plugins are no longer those by which the results are named."""
        now = read_combination(self.model_dump())
        if now.identity == self.identity:
            return
        if now.data_fingerprint != self.data_fingerprint:
            changed = f"the data of {self.dataset} are"
        else:
            parts = [part for part, plugins in now.plugins.items() if plugins != self.plugins.get(part)]
            moved = [name for name, version in now.versions.items() if version != self.versions.get(name)]
            changed = f"{', '.join(parts + moved) or 'the plugins'} of {self} are"
        raise NotRunError(
            f"{changed} not what they were when this was planned, so nothing is recorded; run the same command again,"
            " which names results by what is there now"
        )

    def in_words(self) -> dict[str, str]:
        """Return its parts as a table of runs has them."""
        return {
            "data": self.dataset,
            "transforms": " | ".join(self.transforms),
            "fitted by": f"{self.backend} {self.scorer}".strip(),
            "loss": self.loss,
            "sampler": self.sampler,
            "identity": self.identity,
        }

    def __str__(self) -> str:
        noise = f" x {self.sampler}" if self.sampler else ""
        fitter = f"{self.backend} {self.scorer}".strip()
        debiasing = f" debiased by {self.debias}" if self.debias else ""
        return f"{self.dataset} / {fitter} / {self.loss}{noise}{debiasing}"


ADDED_PARTS = {name: Combination.model_fields[name].default for name in ("debias", "train_curve")}
"""Parts that results from before them lack, and what these results have in their place."""


def combinations(grid: Mapping[str, Any] | Iterable[Mapping[str, Any]], **fixed: Any) -> tuple[list[Combination], int]:
    """Expand a grid into combinations, and count those left out because their backend cannot fit their scorer.

    Args:
        grid: a value or a list of values for each part; references may hold grids of their own. Of ``transforms`` and
            ``metrics`` a combination has several, so there a list of lists is a grid. Several grids are joined.
        fixed: parts that are the same in all.
    """
    grids = [grid] if isinstance(grid, Mapping) or not isinstance(grid, Iterable) else list(grid)
    expanded: dict[str, Combination] = {}
    left_out = 0
    for parts in grids:
        if not isinstance(parts, Mapping):
            raise GrammarError(f"a grid maps parts of a combination to values, such as loss: [mse], not {shown(parts)}")
        for combination in _expand({**fixed, **parts}):
            combination.validate_plugins()
            if combination.fits:
                expanded.setdefault(combination.identity, combination)
            else:
                left_out += 1
                impossible = combination
    if left_out and not expanded:
        raise FitError(f"backend {impossible.backend} cannot fit the scorer {impossible.scorer}; nothing else is asked")
    return list(expanded.values()), left_out


def _expand(grid: Mapping[str, Any]) -> Iterable[Combination]:
    known = Combination.model_fields
    for part in grid:
        if part not in known:
            raise GrammarError(f"a combination has no part {part}: {did_you_mean(part, known)}")
    choices = {part: list(_choices(part, value)) for part, value in grid.items()}
    for part, values in choices.items():
        if not values:
            raise GrammarError(f"the part {part} of a grid has no value; leave it out or name one")
    if math.prod(map(len, choices.values())) > MOST_CHOICES:
        raise GrammarError(f"a grid stands for more than {MOST_CHOICES:,} combinations; name fewer")
    for row in itertools.product(*choices.values()):
        yield read_combination(dict(zip(choices, row, strict=True)))


def _choices(part: str, value: Any) -> Iterable[Any]:
    if part in KIND_OF_PARTS:
        values = _listed(value)
        several = isinstance(values, (list, tuple)) and any(isinstance(_listed(item), (list, tuple)) for item in values)
        yield from map(_listed, values) if several else [values]
    elif part in KIND_OF_PART or part == "debias":
        values = value.values if isinstance(value, Grid) else value if isinstance(value, (list, tuple)) else [value]
        for choice in values:
            yield from [""] if choice in (None, "", "none") else expand(choice)
    else:
        values = value.values if isinstance(value, Grid) else value
        yield from values if isinstance(values, (list, tuple)) else [values]


def _listed(value: Any) -> Any:
    """Return a grid that was read from words as the list that Python has in its place, anything else as it is."""
    return value.values if isinstance(value, Grid) else value


def read_combination(given: Mapping[str, Any]) -> Combination:
    """Make a combination from its parts; an error names in one sentence what is wrong."""
    return Combination(**{str(part): value for part, value in given.items()})


def _sentence(error: ValidationError) -> ParameterError:
    problem = error.errors()[0]
    part = str(problem["loc"][0]) if problem["loc"] else ""
    if problem["type"] == "missing":
        return ParameterError(f"a combination needs the part {part}")
    known = Combination.model_fields
    if problem["type"] == "extra_forbidden":
        return ParameterError(f"a combination has no part {part}: {did_you_mean(part, known)}")
    reason = problem["msg"].removeprefix("Value error, ")
    return ParameterError(
        f"a combination's {part} cannot be {shown(problem['input'])} ({describe_type(known[part])}):"
        f" {reason[:1].lower()}{reason[1:]}"
    )
