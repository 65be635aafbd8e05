"""Specifications: what a plugin of each kind declares about itself.

The code behind a specification is named as ``"package.module:object"`` and imported at first use, so that listing all
plugins imports no engine.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from rankplug.errors import BrokenPluginError, SpecificationError
from rankplug.registry.grammar import NAME, parse
from rankplug.registry.parameters import Parameters, describe_parameters
from rankplug.system import missing

OWN = "rankplug"
"""The distribution of rankplug, and the group of its entry points."""
IMPLEMENTATION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
UNINFORMATIVE = frozenset({"one document", "equal labels", "no relevant document"})
NEEDS = frozenset({"noise", "sampled rankings", "binary labels"})
PARTS_OF_A_SPLIT = ("train", "valid", "test")


def check_paths(specification: Specification, name: str, paths: Mapping[str, Any]) -> None:
    """Raise an error if a path is not of the form ``package.module:object``."""
    if not isinstance(paths, Mapping):
        raise SpecificationError(f"{specification}: {name} must map names to package.module:object, got {paths!r}")
    for path in paths.values():
        if not (isinstance(path, str) and IMPLEMENTATION.fullmatch(path)):
            raise SpecificationError(f"{specification}: {name}: {path!r} is not of the form package.module:object")


def import_object(path: str, owner: str) -> Any:
    """Import and return the object behind ``package.module:object``."""
    module, _, name = path.partition(":")
    try:
        value: Any = importlib.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and error.name:
            reason = missing(error.name)
        else:
            reason = str(error) if isinstance(error, BrokenPluginError) else f"{type(error).__name__}: {error}"
        raise BrokenPluginError(f"{owner} cannot be used: {reason}") from error
    return value


def same_distribution(name: str, other: str) -> bool:
    """Tell whether an installer treats two names as one distribution."""
    return name.lower().replace("-", "_") == other.lower().replace("-", "_")


@dataclass(frozen=True, kw_only=True)
class Specification:
    """A plugin of any kind.

    Args:
        name: what users call it.
        summary: one line.
        implementation: ``"package.module:object"``, or the object itself.
        parameters: the model of its parameters.
        paper: short name of the paper it comes from, or a citation.
        formula: LaTeX, for the generated pages.
    """

    kind: ClassVar[str] = "plugin"

    name: str
    summary: str
    implementation: Any = ""
    parameters: type[Parameters] = Parameters
    paper: str = ""
    formula: str = ""

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and NAME.fullmatch(self.name)):
            raise SpecificationError(
                f"{self.name!r} is not a plugin's name: letters, digits, _ and -, beginning with a letter"
            )
        if not (isinstance(self.summary, str) and self.summary):
            raise SpecificationError(f"{self.kind} {self.name} has no summary")
        path = self.implementation
        if isinstance(path, str) and path and not IMPLEMENTATION.fullmatch(path):
            raise SpecificationError(f"{self}: {path!r} is not of the form package.module:object")
        if not (isinstance(self.parameters, type) and issubclass(self.parameters, Parameters)):
            raise SpecificationError(f"{self.kind} {self.name}: parameters must be a subclass of rankplug.Parameters")

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def load(self) -> Any:
        """Import the object behind the specification."""
        if isinstance(self.implementation, str):
            return import_object(self.implementation, str(self))
        return self.implementation

    def modules(self) -> Iterator[str]:
        """Yield the names of the modules with the plugin's code and its parameters."""
        yield self.parameters.__module__
        for value in vars(self).values():
            for path in value.values() if isinstance(value, Mapping) else [value]:
                if isinstance(path, str) and IMPLEMENTATION.fullmatch(path):
                    yield path.partition(":")[0]
                elif callable(path):
                    yield getattr(path, "__module__", "") or type(path).__module__

    def describe(self) -> dict[str, Any]:
        """Return the specification as plain values."""
        return {
            "kind": self.kind,
            "name": self.name,
            "summary": self.summary,
            "paper": self.paper,
            "parameters": describe_parameters(self.parameters),
        }


@dataclass(frozen=True, kw_only=True)
class LossSpecification(Specification):
    """A loss: a function of one list, see :mod:`rankplug.losses.objectives`.

    Args:
        convex: in the scores, for fixed noise.
        shift_invariant: adding a constant to all scores of a list changes nothing.
        curvature: ``exact`` second derivatives, a positive ``surrogate``, or ``none`` (ones for boosting).
        gradient: ``exact`` derivative of the value, or ``lambda`` for gradients that are defined directly
            (weights or targets held fixed in differentiation).
        zero_gradient: lists that teach nothing, of ``one document``, ``equal labels``, ``no relevant document``.
        needs: what it uses beside scores and labels: ``noise``, ``sampled rankings``, ``binary labels``.
        longest: the longest list it can take, where there is a limit.
        largest_label: the largest label it can take, where there is a limit.
    """

    kind: ClassVar[str] = "loss"

    convex: bool = False
    shift_invariant: bool = True
    curvature: Literal["exact", "surrogate", "none"] = "none"
    gradient: Literal["exact", "lambda"] = "exact"
    zero_gradient: frozenset[str] = UNINFORMATIVE
    needs: frozenset[str] = frozenset()
    longest: int | None = None
    largest_label: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._one_of("curvature", ("exact", "surrogate", "none"))
        self._one_of("gradient", ("exact", "lambda"))
        self._some_of("needs", NEEDS)
        self._some_of("zero_gradient", UNINFORMATIVE)
        for name in ("longest", "largest_label"):
            if (limit := getattr(self, name)) is not None and (not isinstance(limit, int) or limit < 1):
                raise SpecificationError(f"{self}: {name} must be a whole number of at least 1, got {limit!r}")

    def _some_of(self, name: str, allowed: frozenset[str]) -> None:
        value = getattr(self, name)
        if isinstance(value, str) or not set(value) <= allowed:
            raise SpecificationError(f"{self}: {name}={value!r} is not a set of {', '.join(sorted(allowed))}")

    def _one_of(self, name: str, allowed: tuple[str, ...]) -> None:
        if getattr(self, name) not in allowed:
            raise SpecificationError(f"{self}: {name}={getattr(self, name)!r} is none of {', '.join(allowed)}")

    def describe(self) -> dict[str, Any]:
        return {
            **super().describe(),
            "convex": self.convex,
            "shift_invariant": self.shift_invariant,
            "curvature": self.curvature,
            "gradient": self.gradient,
            "zero_gradient": sorted(self.zero_gradient),
            "needs": sorted(self.needs),
            "longest": self.longest,
            "largest_label": self.largest_label,
        }


@dataclass(frozen=True, kw_only=True)
class SamplerSpecification(Specification):
    """A sampler of perturbed scores; its parameters include ``samples``, the number of draws."""

    kind: ClassVar[str] = "sampler"


@dataclass(frozen=True, kw_only=True)
class ScorerSpecification(Specification):
    """A hypothesis space.

    Args:
        fitted_by: the name of each backend that can fit it, to the code that does.
        complete: whether it needs numbers without gaps, so that categories and missing values are encoded for it even
            where the backend takes them.
        search: values of parameters among which :func:`rankplug.tune` chooses, as a grid of the scorer.
    """

    kind: ClassVar[str] = "scorer"

    fitted_by: Mapping[str, str] = field(default_factory=dict)
    complete: bool = False
    search: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_search(self)
        check_paths(self, "fitted_by", self.fitted_by)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "fitted_by": sorted(self.fitted_by)}


@dataclass(frozen=True, kw_only=True)
class BackendSpecification(Specification):
    """An engine that fits scorers, see :mod:`rankplug.training._fitting`.

    Args:
        requires: import names that must be installed.
        default_scorer: what ``rp.fit`` takes when no scorer is named.
        missing_values: whether features may be nan.
        categorical: whether features may be codes of categories.
        same_bits: whether models are the same to the last bit on any number of threads, which then is chosen by how
            busy the machine is.
        exports: what the engine's own users take from us, as ``rankplug.<name>``, to ``"package.module:object"``.
        search: values of parameters among which :func:`rankplug.tune` chooses, as a grid of the backend.
    """

    kind: ClassVar[str] = "backend"

    requires: tuple[str, ...] = ()
    default_scorer: str = ""
    missing_values: bool = False
    categorical: bool = False
    same_bits: bool = False
    exports: Mapping[str, str] = field(default_factory=dict)
    search: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_search(self)
        if isinstance(self.requires, str):
            raise SpecificationError(f"{self}: requires must be a tuple of packages, got {self.requires!r}")
        if self.default_scorer:
            parse(self.default_scorer)
        check_paths(self, "exports", self.exports)


@dataclass(frozen=True, kw_only=True)
class DatasetSpecification(Specification):
    """A data set; its implementation is ``(parameters, fold, seed) -> Split``, see :mod:`rankplug.data.datasets`.

    Args:
        folds: how many it has.
        fingerprint: ``"package.module:function"`` of the parameters, which says in a word what data they stand for
            without reading them, such as the digest in a prepared set's manifest. Results are named by it, so that
            other data under the same name make other results. Data that the parameters determine need none.
        blocks: ``"package.module:function"`` of parameters, fold and seed, where the test part may be larger than
            memory: it yields the split several times, each time with the next queries of the test part in its place.
        licence: terms of use of the data, in words.
        endings: endings of the files that it reads by its parameter ``path``, so that such a path names the data set.
    """

    kind: ClassVar[str] = "dataset"

    folds: int = 1
    fingerprint: Any = ""
    blocks: Any = ""
    licence: str = ""
    endings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.folds, int) or self.folds < 1:
            raise SpecificationError(f"{self}: folds must be a whole number of at least 1, got {self.folds!r}")
        if not isinstance(self.licence, str):
            raise SpecificationError(f"{self}: a licence is a text, not {self.licence!r}")
        for name in ("fingerprint", "blocks"):
            if isinstance(path := getattr(self, name), str) and path:
                check_paths(self, name, {"": path})

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "folds": self.folds}


@dataclass(frozen=True, kw_only=True)
class TransformSpecification(Specification):
    """A change of data; its implementation is ``(split, parameters, generator) -> Split``.

    Args:
        parts: of the split that it changes, of ``train``, ``valid``, ``test``; the others come out as they went in.
            Where its parameters have ``parts``, as a field or property, these count instead.
        by_query: whether training and validation part do not depend on the test part, and a test query becomes the same
            whichever others there are; only then is a test part larger than memory transformed in blocks.
    """

    kind: ClassVar[str] = "transform"

    parts: tuple[str, ...] = PARTS_OF_A_SPLIT
    by_query: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.parts, str) or not self.parts or not set(self.parts) <= set(PARTS_OF_A_SPLIT):
            raise SpecificationError(f"{self}: parts={self.parts!r} is not some of {', '.join(PARTS_OF_A_SPLIT)}")

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "parts": list(self.parts), "by_query": self.by_query}


@dataclass(frozen=True, kw_only=True)
class DebiasingSpecification(Specification):
    """A way to learn from clicks; its implementation is ``(parameters, train, valid, fit) -> Model``.

    Training lists carry clicks. ``fit`` is a :data:`rankplug.training.FitLists`, which may be called several times.
    """

    kind: ClassVar[str] = "debiasing"


@dataclass(frozen=True, kw_only=True)
class MetricSpecification(Specification):
    """A quality of a ranking, one value a list, see :mod:`rankplug.metrics.list_metrics`."""

    kind: ClassVar[str] = "metric"

    lowest: float = 0.0
    highest: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        bounds = (self.lowest, self.highest)
        if not all(isinstance(bound, (int, float)) for bound in bounds) or not self.lowest < self.highest:
            raise SpecificationError(f"{self}: lowest={self.lowest!r} must be less than highest={self.highest!r}")


@dataclass(frozen=True, kw_only=True)
class StudySpecification(Specification):
    """A paper: its figures, tables, claims and the combinations each needs."""

    kind: ClassVar[str] = "study"


KINDS: dict[str, type[Specification]] = {
    specification.kind: specification
    for specification in (
        LossSpecification,
        SamplerSpecification,
        ScorerSpecification,
        BackendSpecification,
        DatasetSpecification,
        TransformSpecification,
        DebiasingSpecification,
        MetricSpecification,
        StudySpecification,
    )
}
HOOK_OF_KIND = {
    "loss": "rankplug_losses",
    "sampler": "rankplug_samplers",
    "scorer": "rankplug_scorers",
    "backend": "rankplug_backends",
    "dataset": "rankplug_datasets",
    "transform": "rankplug_transforms",
    "debiasing": "rankplug_debiasings",
    "metric": "rankplug_metrics",
    "study": "rankplug_studies",
}
"""Kind of a plugin -> the hook by which it is offered."""


def _check_search(specification: BackendSpecification | ScorerSpecification) -> None:
    """Raise an error if the suggested values are no grid of the plugin's own parameters."""
    if specification.search:
        grid = parse(specification.search)
        if grid.name != specification.name or not set(grid.parameters) <= set(specification.parameters.model_fields):
            raise SpecificationError(f"{specification}: search={specification.search!r} is no grid of its parameters")
