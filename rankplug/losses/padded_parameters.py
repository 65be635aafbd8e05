"""Parameters that users may set for every loss written in PyTorch."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rankplug.registry import Parameters


class PaddedParameters(Parameters):
    """Base of the parameters of a loss in PyTorch: which curvature goes to boosting.

    ``ones`` makes boosting follow the gradient. ``diagonal`` is the diagonal of the Hessian, at the price of one
    backward pass a document of the longest list. ``hutchinson`` estimates it from ``probes`` backward passes, as the
    mean of ``z (H z)`` over random signs ``z``: exact where no document's gradient depends on another's score. Both are
    made positive by taking the absolute value, as boosting divides by it.
    """

    curvature: Literal["ones", "hutchinson", "diagonal"] = Field("ones", description="second derivative for boosting")
    probes: int = Field(1, ge=1, description="random sign vectors of the hutchinson curvature")
