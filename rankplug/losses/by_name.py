"""The function ``rankplug.loss``: a loss by its name, or a loss made of a function written in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from rankplug.errors import ParameterError
from rankplug.losses.objectives import Loss
from rankplug.losses.session_losses import offer
from rankplug.registry import Named

NOT_GIVEN: Any = object()


@overload
def loss(reference: Named | Loss) -> Loss: ...
@overload
def loss(reference: Callable[..., Any], **declared: Any) -> Loss: ...
@overload
def loss(**declared: Any) -> Callable[[Callable[..., Any]], Loss]: ...
def loss(reference: Any = NOT_GIVEN, **declared: Any) -> Any:
    """Return the loss of a name; or, on a function, make a loss of it for this session.

    Args:
        reference: a name such as ``"approx_ndcg[eta=10]"``, a loss, or a function, see
            :mod:`rankplug.losses.session_losses`.
        declared: of a function: what is to be said of the loss, such as ``convex=True``.

    >>> loss("cross_entropy").evaluate([0.2, 0.5], labels=[1, 0], starts=[0, 2]).value.round(6)
    array([0.854355])
    """
    if reference is NOT_GIVEN:
        return lambda function: offer(function, declared)
    if callable(reference):
        return offer(reference, declared)
    if declared:
        raise ParameterError(
            f"{next(iter(declared))} can be declared of a function only; parameters of a loss stand in its name, as in"
            " lambdarank[sigma=2.0]"
        )
    return Loss.named(reference)
