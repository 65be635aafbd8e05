"""Losses written in a notebook's cell: they live in this session, and travel to its workers.

``@rankplug.loss`` on a function offers it under its name::

    @rp.loss(convex=True)
    def hinge(scores, labels, gradient, curvature, margin: float = 1.0):
        ...

    rp.sweep({"loss": ["hinge[margin=[1,2]]", "lambdarank"], "backend": "lightgbm"}, data="synthetic", jobs=2)

Its arguments say what it is: one that fills ``gradient`` is compiled (:mod:`rankplug.losses.list_losses`), one that
takes ``mask`` is a PyTorch expression (:mod:`rankplug.losses.padded_losses`); further arguments are its parameters. In
place of a version it has a digest of its code and of everything that the code uses: functions and constants of the
notebook and of modules beside it, arrays, models and their weights. Results are named by it. Workers get the function
itself; results hold its source as text, which nobody runs.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import textwrap
import types
import typing
import warnings
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, overload

from pydantic import create_model

from rankplug.compiled import NamedFunction
from rankplug.compiled.identity import UnknownContentError, digest_of, names_used, plain
from rankplug.errors import BrokenPluginError, ParameterError, PluginConflictError, shown
from rankplug.losses.list_losses import ListLoss
from rankplug.losses.objectives import Loss
from rankplug.losses.padded_losses import PaddedLoss
from rankplug.losses.padded_parameters import PaddedParameters
from rankplug.registry import SESSION, LossSpecification, Named, Parameters, parse, registry

Function = Callable[..., Any]

MISSING: Any = object()
LONGEST_TEXT = 200

_offered: dict[str, tuple[Function, dict[str, Any]]] = {}


class SessionPluginWarning(UserWarning):
    """A plugin that lives in this session only."""


@overload
def loss(reference: Named | Loss) -> Loss: ...
@overload
def loss(reference: Callable[..., Any], **declared: Any) -> Loss: ...
@overload
def loss(**declared: Any) -> Callable[[Callable[..., Any]], Loss]: ...
def loss(reference: Any = MISSING, **declared: Any) -> Any:
    """Return the loss of a name; or, on a function, make a loss of it for this session.

    Args:
        reference: a name such as ``"approx_ndcg[eta=10]"``, a loss, or a function, see
            :mod:`rankplug.losses.session_losses`.
        declared: properties of a function's loss, such as ``convex=True``.

    >>> loss("cross_entropy").evaluate([0.2, 0.5], labels=[1, 0], starts=[0, 2]).value.round(6)
    array([0.854355])
    """
    if reference is MISSING:
        return lambda function: offer(function, declared)
    if callable(reference):
        return offer(reference, declared)
    if declared:
        raise ParameterError(
            f"{next(iter(declared))} can be declared of a function only; parameters of a loss stand in its name, as in"
            " lambdarank[sigma=2.0]"
        )
    return Loss.named(reference)


def offer(function: Function, declared: Mapping[str, Any]) -> Loss:
    """Offer a function as a loss of this session, in place of an earlier one of its name.

    Args:
        function: of one list or of padded lists, plain or already marked as a loss.
        declared: fields of its :class:`~rankplug.registry.LossSpecification`; its ``cost``, if it is plain.
    """
    specification = specification_of(function, declared)
    name = specification.name
    for plugin in registry().plugins("loss"):
        if plugin.specification.name == name and plugin.distribution != SESSION:
            raise PluginConflictError(f"loss {name} is already offered by {plugin.distribution}; choose another name")
    if name not in _offered:
        warnings.warn(
            f"loss {name} lives in this session only and has no version: its results are named by a digest of its"
            f" source; to keep it, make a package of it with: rankplug new loss {name}",
            SessionPluginWarning,
            stacklevel=3,
        )
    version = _version(name, function, declared)
    _offered[name] = function, dict(declared)
    registry().add(specification, version=version, source=source_of(function))
    return Loss(name)


def _versions_here(name: str) -> list[str]:
    """Return the versions under which a loss of this session is offered."""
    return [
        plugin.version
        for plugin in registry().plugins("loss")
        if (plugin.specification.name, plugin.distribution) == (name, SESSION)
    ]


def renew() -> None:
    """Offer those losses again whose source, or what it uses, has changed since they were offered."""
    for name, (function, declared) in list(_offered.items()):
        versions = _versions_here(name)
        if versions and versions[0] != _version(name, function, declared):
            # What was compiled holds the old values of what it uses.
            offer(copy.copy(function), declared)


def specification_of(function: Function, declared: Mapping[str, Any]) -> LossSpecification:
    """Build the specification of a loss from a function and its declarations."""
    fields = dict(declared)
    options = {"cost": fields.pop("cost")} if "cost" in fields else {}
    implementation = function if isinstance(function, NamedFunction) else _marked(function, options)
    fields.setdefault("name", function.__name__)
    fields.setdefault("summary", (inspect.getdoc(function) or "a loss of this session").splitlines()[0])
    fields.setdefault("parameters", _parameters(implementation))
    try:
        return LossSpecification(implementation=implementation, **fields)
    except (TypeError, ValueError) as error:
        raise BrokenPluginError(f"loss {fields['name']} cannot be offered: {error}") from None


def _marked(function: Function, options: Mapping[str, Any]) -> ListLoss | PaddedLoss:
    try:
        arguments = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise BrokenPluginError(f"{shown(function)} cannot be a loss: {error}") from None
    if "mask" in arguments:
        return PaddedLoss(function, **options)
    if "gradient" in arguments:
        return ListLoss(function, **options)
    raise BrokenPluginError(
        f"{function.__name__}({', '.join(arguments)}) is no loss: it must either fill its argument gradient, to be"
        " compiled, or take mask, as a PyTorch expression over padded lists"
    )


def _parameters(function: NamedFunction) -> type[Parameters]:
    """Build a model of the arguments that the framework does not supply, typed by annotations or defaults."""
    signature = inspect.signature(function.function).parameters
    try:
        annotations = typing.get_type_hints(function.function)
    except NameError:
        annotations = {}
    fields: dict[str, Any] = {}
    for name in function.wants:
        default = signature[name].default
        if default is not inspect.Parameter.empty:
            fields[name] = (annotations.get(name, type(default)), default)
            continue
        near = get_close_matches(name, function.supplied - set(function.arguments), n=1, cutoff=0.8)
        if near:
            raise BrokenPluginError(
                f"loss {function.__name__} has the argument {name}, which is not supplied: did you mean {near[0]}?"
                f" A parameter of that name needs a default, as in {name}=1.0"
            )
        fields[name] = (annotations.get(name, float), ...)
    title = "".join(word.capitalize() for word in function.__name__.split("_"))
    return create_model(title, __base__=PaddedParameters if isinstance(function, PaddedLoss) else Parameters, **fields)


def source_of(function: Function) -> str:
    """Return the source of a function, and of everything in the session that it uses."""
    main = plain(function)
    texts: dict[str, str] = {}
    pending: list[tuple[str, Any]] = [(main.__name__, main)]
    if isinstance(function, ListLoss):
        pending += [(name, value) for name, value in vars(function).items() if name.startswith("constants") and value]
    while pending:
        name, value = pending.pop()
        part = plain(value)
        if name in texts:
            continue
        if not (isinstance(part, types.FunctionType) and part.__module__ == main.__module__):
            texts[name] = f"{name} = {_described(part)}"
            continue
        try:
            texts[name] = textwrap.dedent(inspect.getsource(part))
        except OSError:
            texts[name] = f"# the source of {part.__name__} is not available\n"
        pending += names_used(part)
    return "\n".join(texts[name] for name in sorted(texts, key=lambda name: (name != main.__name__, name)))


def _described(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    return f"{value.__module__}.{value.__qualname__}" if hasattr(value, "__qualname__") else repr(value)[:LONGEST_TEXT]


def _version(name: str, function: Function, declared: Mapping[str, Any]) -> str:
    """Return a digest of a loss's code, of all that it uses, and of what is declared of it."""
    try:
        return digest_of(function, dict(declared))[:16]
    except UnknownContentError as error:
        raise BrokenPluginError(
            f"loss {name} uses {error}, whose content cannot be part of what names its results; use numbers, arrays or"
            f" functions instead, or make a package of the loss with: rankplug new loss {name}"
        ) from error


def packed(references: Iterable[str]) -> bytes:
    """Serialize the losses of this session among some references for workers; empty if there are none."""
    names = sorted({name for reference in references if (name := parse(reference).name) in _offered})
    plugins = [plugin for name in names if (plugin := registry().find("loss", name)).distribution == SESSION]
    if not plugins:
        return b""
    import cloudpickle

    losses = [(*_offered[plugin.specification.name], plugin.version, plugin.source) for plugin in plugins]
    try:
        return bytes(cloudpickle.dumps(losses))
    except Exception as error:
        raise BrokenPluginError(
            f"the losses {', '.join(names)} of this session cannot travel to workers ({type(error).__name__}: {error});"
            " sweep with jobs=1, or make a package of them with rankplug new"
        ) from error


def unpack(losses: bytes) -> None:
    """Offer in this process the losses that another one packed."""
    for function, declared, version, source in pickle.loads(losses) if losses else ():
        specification = specification_of(function, declared)
        if version not in _versions_here(specification.name):
            registry().add(specification, version=version, source=source)
