"""A combination of plugins as data, validated, hashable and the name of its results; its trials, results and scores.

>>> combination = Combination(dataset="ohsumed", backend="torch", loss="cross_entropy", sampler="gumbel[beta=2.0]")
>>> str(combination)
'ohsumed / torch / cross_entropy x gumbel[beta=2]'
>>> combination == Combination(dataset="ohsumed", backend="torch", loss="cross_entropy", sampler="gumbel[ beta = 2 ]")
True
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from rankplug.errors import FitError, GrammarError, NotRunError, ParameterError, RankplugError, did_you_mean, shown
from rankplug.registry import (
    MOST_CHOICES,
    Grid,
    canonical,
    describe_type,
    expand,
    import_object,
    parse,
    registry,
    source_digest,
)
from rankplug.system import trial_seed, version_of
from rankplug.training import LOSS, LearningCurve

if TYPE_CHECKING:
    from rankplug.data import Lists
    from rankplug.training import Model

Doubles = NDArray[np.float64]
METRICS = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10")
PLUGIN_PARTS = {
    "dataset": "dataset",
    "transforms": "transform",
    "backend": "backend",
    "scorer": "scorer",
    "loss": "loss",
    "sampler": "sampler",
    "debias": "debiasing",
    "selection": "metric",
    "metrics": "metric",
}
"""The kind of plugin that each part of a combination names."""
CHAINS = ("transforms", "selection", "metrics")
"""Parts that name several plugins in order."""
BAR = " | "
"""Separator of the plugins of a chain in tables."""
SQL_TEXT = re.compile(r"'(?:[^']|'')*'")


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
    patience: int | None = Field(None, ge=1, lt=1 << 63)
    metrics: tuple[str, ...] = METRICS
    seed: int = Field(0, ge=0, lt=1 << 63)
    debias: str = ""
    train_curve: bool = True

    def __init__(self, **parts: Any) -> None:
        try:
            super().__init__(**parts)
        except ValidationError as error:
            raise _sentence(error) from None

    @field_validator("dataset", "backend", "loss", "scorer", "sampler", "debias", mode="before")
    @classmethod
    def _canonical(cls, value: Any, info: ValidationInfo) -> str:
        if value is None or value == "":
            return ""
        return canonical(PLUGIN_PARTS[str(info.field_name)], value)

    @field_validator(*CHAINS, mode="before")
    @classmethod
    def _canonical_chain(cls, value: Any, info: ValidationInfo) -> tuple[str, ...]:
        links = value or () if isinstance(value, (list, tuple, set, type(None))) else [value]
        return tuple(canonical(PLUGIN_PARTS[str(info.field_name)], link) for link in links)

    def validate_plugins(self) -> Combination:
        """Check that every plugin is found and its parameters are valid, and return the combination."""
        for part, kind in PLUGIN_PARTS.items():
            for reference in self._references(part):
                registry().resolve(kind, reference)
        return self

    def _references(self, part: str) -> list[str]:
        """Return the plugins that a part names; selection by the loss itself needs no plugin."""
        value = getattr(self, part)
        if part in CHAINS:
            return [reference for reference in value if (part, reference) != ("selection", LOSS)]
        return [value] if value else []

    @property
    def fits(self) -> bool:
        """True if the backend can fit the scorer."""
        if not self.scorer:
            return True
        specification = registry().specification("scorer", self.scorer)
        return parse(self.backend).name in specification.fitted_by

    @cached_property
    def plugins(self) -> dict[str, list[dict[str, Any]]]:
        """The plugin behind each part, with its distribution, version and all parameters, the defaults included."""
        references = {part: self._references(part) for part in PLUGIN_PARTS}
        if not self.scorer:
            references["scorer"] = [registry().specification("backend", self.backend).default_scorer]
        return {
            part: [_describe_plugin(PLUGIN_PARTS[part], reference) for reference in named]
            for part, named in references.items()
            if named or part in CHAINS
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
        """Fingerprint of the data without reading them; empty if the parameters determine them."""
        specification, parameters = registry().resolve("dataset", self.dataset)
        fingerprint = specification.fingerprint
        if isinstance(fingerprint, str) and fingerprint:
            fingerprint = import_object(fingerprint, str(specification))
        return str(fingerprint(parameters)) if fingerprint else ""

    @cached_property
    def identity(self) -> str:
        """Name of its results: a digest of everything that changes them, and of nothing else."""
        return identity_of(self.plugins, self.versions, self.model_dump(), self.data_fingerprint)

    @property
    def fit_arguments(self) -> dict[str, Any]:
        """Arguments of :func:`rankplug.fit`, by name."""
        return {part: getattr(self, part) or None for part in FIT_PARTS} | {"train_curve": self.train_curve}

    def check_as_planned(self) -> None:
        """Raise an error if data or plugins changed since the combination was planned."""
        now = Combination(**self.model_dump())
        if now.identity != self.identity:
            changed = self.dataset if now.data_fingerprint != self.data_fingerprint else f"a plugin of {self}"
            raise NotRunError(
                f"{changed} is not what it was when this was planned, so nothing is recorded; run the command again"
            )

    def in_words(self) -> dict[str, str]:
        """Return its parts as a table of runs shows them."""
        return {
            "data": self.dataset,
            "transforms": BAR.join(self.transforms),
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


FIT_PARTS = tuple(
    part for part in Combination.model_fields if part not in ("dataset", "transforms", "metrics", "seed", "train_curve")
)
"""Parts by which :func:`rankplug.fit` trains the same model, whose learning curve may have training data or not."""
TABLE_PARTS = tuple(part for part in Combination.model_fields if part != "metrics")
"""Parts that are columns of tables."""
ADDED_PARTS = {name: Combination.model_fields[name].default for name in ("debias", "train_curve")}
"""Parts that pages show only where they differ from these values."""


def identity_of(
    plugins: Mapping[str, Any], versions: Mapping[str, Any], parts: Mapping[str, Any], data_fingerprint: str
) -> str:
    """Return the name of results, from a stored record as from the combination itself.

    Args:
        plugins: the plugins behind each part, with all parameters.
        versions: versions of distributions and engines.
        parts: the parts of the combination.
        data_fingerprint: fingerprint of the data set.
    """
    rest = {part: parts[part] for part in Combination.model_fields if part not in PLUGIN_PARTS}
    words = [plugins, versions, rest, parts["selection"], data_fingerprint]
    return hashlib.blake2b(json.dumps(words, sort_keys=True, default=str).encode(), digest_size=8).hexdigest()


def _describe_plugin(kind: str, reference: str) -> dict[str, Any]:
    """Return everything about a plugin that identifies results: its origin, version, code and all parameters."""
    plugin = registry().find(kind, reference)
    _, parameters = registry().resolve(kind, reference)
    about = {
        "name": plugin.specification.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "code": source_digest(plugin.specification, plugin.distribution),
        "parameters": parameters.model_dump(),
        "source": plugin.source,
    }
    return {name: value for name, value in about.items() if value or name not in ("code", "source")}


def with_canonical_names(sql: str) -> str:
    """Rewrite every plugin with parameters that a question names to its canonical text, which the tables have."""

    def rewritten(match: re.Match[str]) -> str:
        if "[" not in match[0]:
            return match[0]
        names = [canonical_text(name) for name in match[0][1:-1].replace("''", "'").split(BAR)]
        return "'" + BAR.join(names).replace("'", "''") + "'"

    return SQL_TEXT.sub(rewritten, sql)


def canonical_text(written: str) -> str:
    """Return the canonical text of a plugin of any kind; other words are returned unchanged."""
    for kind in dict.fromkeys(PLUGIN_PARTS.values()):
        with contextlib.suppress(RankplugError):
            registry().resolve(kind, written)
            return canonical(kind, written)
    return written


def combinations(grid: Mapping[str, Any] | Iterable[Mapping[str, Any]], **fixed: Any) -> tuple[list[Combination], int]:
    """Expand a grid into combinations, and count those left out because their backend cannot fit their scorer.

    Args:
        grid: a value or a list of values for each part; references may hold grids of their own. Of ``transforms`` and
            ``metrics`` a combination has several, so there a list of lists is a grid. Several grids are joined.
        fixed: parts that are the same in all.
    """
    expanded: dict[str, Combination] = {}
    impossible = []
    for parts in grids_of(grid):
        if not isinstance(parts, Mapping):
            raise GrammarError(f"a grid maps parts of a combination to values, such as loss: [mse], not {shown(parts)}")
        for combination in _expand({**fixed, **parts}):
            if combination.validate_plugins().fits:
                expanded.setdefault(combination.identity, combination)
            else:
                impossible.append(combination)
    if impossible and not expanded:
        last = impossible[-1]
        raise FitError(f"backend {last.backend} cannot fit the scorer {last.scorer}; nothing else was requested")
    return list(expanded.values()), len(impossible)


def grids_of(grid: Any) -> list[Any]:
    """Return several grids, or a single one, as a list."""
    return [grid] if isinstance(grid, Mapping) or not isinstance(grid, Iterable) else list(grid)


def _expand(grid: Mapping[str, Any]) -> Iterator[Combination]:
    known = Combination.model_fields
    for part in grid:
        if part not in known:
            raise GrammarError(f"a combination has no part {part}: {did_you_mean(part, known)}")
    choices = {part: _choices(part, value) for part, value in grid.items()}
    if empty := [part for part, values in choices.items() if not values]:
        raise GrammarError(f"the part {empty[0]} of a grid has no value; leave it out or name one")
    if math.prod(map(len, choices.values())) > MOST_CHOICES:
        raise GrammarError(f"a grid stands for more than {MOST_CHOICES:,} combinations; name fewer")
    for row in itertools.product(*choices.values()):
        yield Combination(**dict(zip(choices, row, strict=True)))


def _choices(part: str, value: Any) -> list[Any]:
    if part in CHAINS:
        chain = without_grid(value)
        several = isinstance(chain, (list, tuple)) and any(
            isinstance(without_grid(item), (list, tuple)) for item in chain
        )
        return list(map(without_grid, chain)) if several else [chain]
    values = listed(value)
    if part not in PLUGIN_PARTS:
        return values
    expanded = ([""] if choice in (None, "", "none") else expand(choice) for choice in values)
    return list(itertools.chain.from_iterable(expanded))


def listed(value: Any) -> list[Any]:
    """Return the values of a grid, or a single value, as a list."""
    values = without_grid(value)
    return list(values) if isinstance(values, (list, tuple)) else [values]


def without_grid(value: Any) -> Any:
    """Return the values of a grid that was read from words, anything else unchanged."""
    return value.values if isinstance(value, Grid) else value


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


class OtherTestPartError(Exception):
    """Stored scores are of other test documents."""


@dataclass(frozen=True, eq=False)
class DocumentScores:
    """Scores of a test part.

    Args:
        scores: one score per document.
        lengths: number of documents of each query.
    """

    scores: Doubles
    lengths: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StoredScores:
    """Stored test scores of a trial with its learning curve and record.

    Args:
        scores: one score per test document, in the order of the data.
        curve: metrics on training and validation data after each iteration.
        record: timings, versions and fingerprints of the trial that was trained.
        identity: identity of the combination that was trained.
    """

    scores: Doubles
    curve: LearningCurve
    record: dict[str, Any]
    identity: str

    def of_blocks(self, blocks: Iterator[Lists]) -> Iterator[tuple[Lists, Doubles]]:
        """Yield each block of the test part with its scores; raise where the part has another number of documents."""
        first = 0
        for block in blocks:
            last = first + block.documents
            if last > self.scores.size:
                raise OtherTestPartError
            yield block, self.scores[first:last]
            first = last
        if first != self.scores.size:
            raise OtherTestPartError


@dataclass(frozen=True)
class Trial:
    """A fold and a repetition of a combination.

    Args:
        combination: the model, data and metrics.
        fold: fold of the data set, from 1.
        number: number of the repetition, from 0; each has its own seed, shared by all combinations with one master
            seed.
    """

    combination: Combination
    fold: int = 1
    number: int = 0

    @property
    def identity(self) -> str:
        """The name of its result."""
        return f"{self.combination.identity}-f{self.fold}-t{self.number}"

    @property
    def seed(self) -> int:
        """Seed that does not depend on losses, scorers or backends, so that these are compared in pairs."""
        return trial_seed(self.combination.seed, self.number)

    def __str__(self) -> str:
        return f"{self.combination} fold {self.fold} trial {self.number}"


@dataclass(frozen=True, eq=False)
class Result:
    """Result of a trial.

    Args:
        trial: the trial.
        queries: metric -> one value per test query, nan where the metric is undefined.
        query_ids: names of the test queries.
        curve: the metrics on training and validation data after each iteration.
        record: timings, versions and fingerprints as plain values.
        failure: traceback of a trial that failed, empty otherwise.
        not_run: whether the failure is no fault of the combination, so that nothing is recorded.
        model: the fitted model, in the process that fitted it; it is not stored.
        scores: scores of the test documents, where they are to be stored.
    """

    trial: Trial
    queries: dict[str, Doubles] = field(default_factory=dict)
    query_ids: tuple[str, ...] = ()
    curve: LearningCurve = field(default_factory=LearningCurve)
    record: dict[str, Any] = field(default_factory=dict)
    failure: str = ""
    not_run: bool = False
    model: Model | None = field(default=None, repr=False)
    scores: DocumentScores | None = field(default=None, repr=False)

    @property
    def failed(self) -> bool:
        """True if the trial failed."""
        return bool(self.failure)

    @property
    def reason(self) -> str:
        """The last line of the failure, which names it."""
        return self.failure.strip().splitlines()[-1] if self.failure else ""
