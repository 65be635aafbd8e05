"""Specifications: what a plugin of each kind declares about itself.

The code behind a specification is named as ``"package.module:object"`` and imported at first use, so that listing all
plugins imports no engine.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    field_validator,
    model_validator,
)

from rankplug.errors import BrokenPluginError, SpecificationError
from rankplug.registry.grammar import NAME, parse
from rankplug.registry.parameters import Parameters, describe_parameters, sentence_of
from rankplug.system import missing

OWN = "rankplug"
"""The distribution of rankplug, and the group of its entry points."""
IMPLEMENTATION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
Uninformative = Literal["one document", "equal labels", "no relevant document"]
UNINFORMATIVE: frozenset[Uninformative] = frozenset({"one document", "equal labels", "no relevant document"})
PARTS_OF_A_SPLIT: tuple[Literal["train", "valid", "test"], ...] = ("train", "valid", "test")


def _check_path(path: Any) -> Any:
    if isinstance(path, str) and path and not IMPLEMENTATION.fullmatch(path):
        raise ValueError("it is not of the form package.module:object")
    return path


Code = Annotated[Any, AfterValidator(_check_path)]
"""An object, or where to import it from."""
Paths = Mapping[str, Annotated[str, AfterValidator(_check_path)]]


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
    """Return whether an installer treats two names as one distribution."""
    return name.lower().replace("-", "_") == other.lower().replace("-", "_")


class Specification(BaseModel):
    """A plugin of any kind.

    Args:
        name: name of the plugin.
        summary: one line.
        implementation: ``"package.module:object"``, or the object itself.
        parameters: model of its parameters.
        paper: short name of the paper it comes from, or a citation.
        formula: LaTeX, for the generated pages.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    kind: ClassVar[str] = "plugin"
    described: ClassVar[tuple[str, ...]] = ()
    """Fields of the kind that :meth:`describe` returns."""

    name: str = Field(pattern=f"^{NAME.pattern}$")
    summary: str = Field(min_length=1)
    implementation: Code = ""
    parameters: type[Parameters] = Parameters
    paper: str = ""
    formula: str = ""

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, fields: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(fields)
        except ValidationError as error:
            owner = f"{cls.kind} {fields.get('name', '')}"
            sentences = [sentence_of(cls, problem, owner) for problem in error.errors()]
            raise SpecificationError("; ".join(sentences)) from None

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
        more = {name: getattr(self, name) for name in self.described}
        return {
            "kind": self.kind,
            "name": self.name,
            "summary": self.summary,
            "paper": self.paper,
            "parameters": describe_parameters(self.parameters),
        } | {name: sorted(value) if isinstance(value, (frozenset, Mapping)) else value for name, value in more.items()}


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
        longest: length of the longest list it can take, where there is a limit.
        largest_label: the largest label it can take, where there is a limit.
    """

    kind: ClassVar[str] = "loss"
    described: ClassVar[tuple[str, ...]] = (
        "convex",
        "shift_invariant",
        "curvature",
        "gradient",
        "zero_gradient",
        "needs",
        "longest",
        "largest_label",
    )

    convex: bool = False
    shift_invariant: bool = True
    curvature: Literal["exact", "surrogate", "none"] = "none"
    gradient: Literal["exact", "lambda"] = "exact"
    zero_gradient: frozenset[Uninformative] = UNINFORMATIVE
    needs: frozenset[Literal["noise", "sampled rankings", "binary labels"]] = frozenset()
    longest: int | None = Field(default=None, ge=1)
    largest_label: int | None = Field(default=None, ge=1)


class SamplerSpecification(Specification):
    """A sampler of perturbed scores; its parameters include ``samples``, the number of samples."""

    kind: ClassVar[str] = "sampler"


class SearchedSpecification(Specification):
    """A plugin whose parameters :func:`rankplug.tune` searches.

    Args:
        search: values of parameters among which it chooses, as a grid of the plugin.
    """

    search: str = ""

    @model_validator(mode="after")
    def _check_search(self) -> Self:
        if self.search:
            grid = parse(self.search)
            if grid.name != self.name or not set(grid.parameters) <= set(self.parameters.model_fields):
                raise ValueError(f"search={self.search!r} is no grid of its parameters")
        return self


class ScorerSpecification(SearchedSpecification):
    """A hypothesis space.

    Args:
        fitted_by: name of each backend that can fit it -> the code that does.
        complete: whether it needs numbers without gaps, so that categories and missing values are encoded for it even
            where the backend takes them.
    """

    kind: ClassVar[str] = "scorer"
    described: ClassVar[tuple[str, ...]] = ("fitted_by",)

    fitted_by: Paths = Field(default_factory=dict)
    complete: bool = False


class BackendSpecification(SearchedSpecification):
    """An engine that fits scorers, see :mod:`rankplug.training._fitting`.

    Args:
        requires: import names that must be installed.
        default_scorer: scorer that ``rp.fit`` uses when none is named.
        missing_values: whether features may be nan.
        categorical: whether features may be codes of categories.
        same_bits: whether models are the same to the last bit on any number of threads, which then is chosen by how
            busy the machine is.
        exports: name of each attribute of ``rankplug`` for the engine's own users -> ``"package.module:object"``.
    """

    kind: ClassVar[str] = "backend"

    requires: tuple[str, ...] = ()
    default_scorer: str = ""
    missing_values: bool = False
    categorical: bool = False
    same_bits: bool = False
    exports: Paths = Field(default_factory=dict)


class DatasetSpecification(Specification):
    """A data set; its implementation is ``(parameters, fold, seed) -> Split``, see :mod:`rankplug.data.datasets`.

    Args:
        folds: number of folds.
        fingerprint: ``"package.module:function"`` of the parameters, which names the data in a word without reading
            them, such as the digest in a prepared set's manifest. Results are named by it, so that other data under
            the same name make other results. Data that the parameters determine need none.
        blocks: ``"package.module:function"`` of parameters, fold and seed, where the test part may be larger than
            memory: it yields the split several times, each time with the next queries of the test part in its place.
        licence: terms of use of the data, in words.
        endings: endings of the files that it reads by its parameter ``path``, so that such a path names the data set.
    """

    kind: ClassVar[str] = "dataset"
    described: ClassVar[tuple[str, ...]] = ("folds",)

    folds: int = Field(default=1, ge=1)
    fingerprint: Code = ""
    blocks: Code = ""
    licence: str = ""
    endings: tuple[str, ...] = ()


class TransformSpecification(Specification):
    """A change of data; its implementation is ``(split, parameters, generator) -> Split``.

    Args:
        parts: parts of the split that it changes, of ``train``, ``valid``, ``test``. Where its parameters have
            ``parts``, as a field or property, these count instead.
        by_query: whether training and validation part do not depend on the test part, and a test query becomes the same
            whichever others there are; only then is a test part larger than memory transformed in blocks.
    """

    kind: ClassVar[str] = "transform"
    described: ClassVar[tuple[str, ...]] = ("parts", "by_query")

    parts: tuple[Literal["train", "valid", "test"], ...] = Field(default=PARTS_OF_A_SPLIT, min_length=1)
    by_query: bool = False


class DebiasingSpecification(Specification):
    """A way to learn from clicks; its implementation is ``(parameters, train, valid, fit) -> Model``.

    Training lists carry clicks. ``fit`` is a :data:`rankplug.training.FitLists`, which may be called several times.
    """

    kind: ClassVar[str] = "debiasing"


class MetricSpecification(Specification):
    """A quality of a ranking, one value per list, see :mod:`rankplug.metrics.list_metrics`."""

    kind: ClassVar[str] = "metric"

    lowest: float = 0.0
    highest: float = 1.0

    @field_validator("highest")
    @classmethod
    def _above(cls, highest: float, info: Any) -> float:
        if highest <= info.data.get("lowest", highest):
            raise ValueError("it must be greater than lowest")
        return highest


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
PLURALS = {"loss": "losses", "study": "studies"}
HOOK_OF_KIND = {kind: f"rankplug_{PLURALS.get(kind, f'{kind}s')}" for kind in KINDS}
"""Kind of a plugin -> the hook by which it is offered."""
