"""Typed, validated, frozen parameters of a plugin, and the sentence a user reads when one is wrong."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from rankplug.errors import ParameterError, did_you_mean, shown
from rankplug.registry.grammar import Grid, format_value


class Parameters(BaseModel):
    """Base of every plugin's parameters; a plugin without any uses it as it is.

    >>> class Sigma(Parameters):
    ...     sigma: float = 1.0
    >>> read_parameters(Sigma, {"sgma": 2}, owner="loss ranknet")
    Traceback (most recent call last):
    ...
    rankplug.errors.ParameterError: loss ranknet has no parameter sgma: did you mean sigma?
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, coerce_numbers_to_str=True, arbitrary_types_allowed=True, allow_inf_nan=True
    )

    def for_data(self, queries: int, features: int) -> typing.Self:
        """Return these parameters with those filled in that follow from the size of the training data."""
        return self


ParametersT = typing.TypeVar("ParametersT", bound=Parameters)


def read_parameters(model: type[ParametersT], given: Mapping[str, Any], owner: str) -> ParametersT:
    """Validate the parameters of ``owner``; one error names every problem."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        sentences = [sentence_of(model, problem, owner) for problem in error.errors()]
        raise ParameterError("; ".join(dict.fromkeys(sentences))) from None


def sentence_of(model: type[BaseModel], problem: Any, owner: str) -> str:
    """Return one sentence about one problem of a ``ValidationError``.

    Args:
        model: model of the parameters.
        problem: entry of the error's ``errors()``.
        owner: what the parameters belong to.
    """
    name = str(problem["loc"][0]) if problem["loc"] else ""
    if problem["type"] == "extra_forbidden":
        known = model.model_fields
        return f"{owner} has no parameter {name}: " + (did_you_mean(name, known) if known else "it takes none")
    if problem["type"] == "missing" and len(problem["loc"]) == 1:
        return f"{owner} needs the parameter {name} ({describe_type(model.model_fields[name])})"
    if not name:
        return f"{owner}: {problem['msg'].removeprefix('Value error, ')}"
    if isinstance(problem["input"], Grid):
        return f"{owner}: {name}={format_value(problem['input'])} is a grid, which only a sweep takes; give one value"
    field = model.model_fields[name]
    reason = problem["msg"].removeprefix("Value error, ")
    if len(problem["loc"]) > 1 and typing.get_origin(field.annotation) in (typing.Union, types.UnionType):
        return f"{owner}: {name}={shown(problem['input'])} is not possible ({describe_type(field)})"
    text = f"{owner}: {name}={shown(problem['input'])} is not possible"
    allowed = literal_values(field)
    if allowed and isinstance(problem["input"], str) and problem["type"] == "literal_error":
        return f"{text}: {did_you_mean(problem['input'], [str(value) for value in allowed])}"
    return f"{text} ({describe_type(field)}): {reason[:1].lower()}{reason[1:]}"


def literal_values(field: FieldInfo) -> tuple[Any, ...]:
    """Return the words that a parameter may take, in their order; empty if it is free."""

    def inside(annotation: Any) -> tuple[Any, ...]:
        if typing.get_origin(annotation) is typing.Literal:
            return typing.get_args(annotation)
        if typing.get_origin(annotation) in (typing.Union, types.UnionType):
            return tuple(value for part in typing.get_args(annotation) for value in inside(part))
        return ()

    return inside(field.annotation)


def describe_type(field: FieldInfo) -> str:
    """Describe a parameter's type with its bounds, as a person would write it: ``float > 0``, ``int >= 1 | none``."""

    def written(annotation: Any, bounds: str) -> str:
        origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Literal:
            return " | ".join(str(value).lower() if isinstance(value, bool) else str(value) for value in inside)
        if origin in (typing.Union, types.UnionType):
            return " | ".join(written(part, bounds) for part in inside)
        if origin is typing.Annotated:
            rules = inside[1].metadata if isinstance(inside[1], FieldInfo) else inside[1:]
            return written(inside[0], bounds or _bounds(rules))
        if annotation is type(None):
            return "none"
        if origin is tuple:
            return f"({', '.join('...' if part is Ellipsis else written(part, '') for part in inside)})" + bounds
        return getattr(annotation, "__name__", str(annotation)) + bounds

    return written(field.annotation, _bounds(field.metadata))


def _bounds(rules: Iterable[Any]) -> str:
    signs = (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="))
    return " and".join(
        f" {sign} {getattr(rule, attribute)}"
        for rule in rules
        for attribute, sign in signs
        if getattr(rule, attribute, None) is not None
    )


def describe_parameters(model: type[Parameters]) -> list[dict[str, Any]]:
    """Return name, type, default and meaning of every parameter, for listings and generated pages."""
    return [
        {
            "name": name,
            "type": describe_type(field),
            "default": None if field.is_required() else field.get_default(call_default_factory=True),
            "required": field.is_required(),
            "description": field.description or "",
        }
        for name, field in model.model_fields.items()
    ]
