"""Any loss as a PyTorch module, for the user's own training loop.

>>> import torch
>>> xe = torch_loss("cross_entropy", reduction="sum")
>>> scores = torch.zeros(4, requires_grad=True)
>>> xe(scores, labels=[1, 0, 0, 2], starts=[0, 2, 4]).backward()
>>> scores.grad
tensor([-0.5000,  0.5000,  0.5000, -0.5000])

Scores are a few kilobytes a batch, so the loss itself always runs on the CPU in double precision, whatever device and
precision the scores have; its value and gradient go back to theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from rankplug.errors import DataError, FitError, ParameterError
from rankplug.losses import Loss, Objective
from rankplug.registry import Named
from rankplug.samplers import Sampler
from rankplug.system import numbers, refuse_masked, whole_number

Reduction = Literal["mean", "sum", "none"]
REDUCTIONS = ("mean", "sum", "none")


def objective_value(
    objective: Objective, scores: torch.Tensor, *, iteration: int = 0, lists: ArrayLike | None = None
) -> torch.Tensor:
    """Return the value of every list, differentiable with respect to the scores.

    Args:
        objective: a loss bound to labels.
        scores: of all documents, or of the documents of ``lists``, one list after another.
        iteration: of the noise.
        lists: positions of the lists that are scored.
    """
    if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
        kind = scores.dtype if isinstance(scores, torch.Tensor) else type(scores).__name__
        raise DataError(f"scores must be a tensor of floating-point numbers, got {kind}")
    values: torch.Tensor = _Value.apply(scores, objective, iteration, lists)
    return values


class TorchLoss(torch.nn.Module):
    """A loss over packed lists.

    Noise is sampled again at each call; the count of calls is part of ``state_dict``, so that a resumed run continues.
    A loss that prepares before training (``needs`` sampled rankings) does so at each call, for the lists of
    that call; to prepare once for all training data, bind it with ``rankplug.loss(...).on(labels, starts)`` and call
    :func:`objective_value`.

    Args:
        loss: its name, such as ``"approx_ndcg[eta=10]"``.
        sampler: averages the loss over draws of noise on the scores.
        reduction: ``mean`` or ``sum`` over the lists, or ``none`` for one value a list.
        seed: of the noise.
    """

    def __init__(
        self,
        loss: Named | Loss,
        sampler: Named | Sampler | None = None,
        *,
        reduction: Reduction = "mean",
        seed: int = 0,
    ) -> None:
        super().__init__()
        if reduction not in REDUCTIONS:
            raise ParameterError(f"reduction={reduction!r} is not possible: {', '.join(REDUCTIONS)}")
        self.loss, self.sampler = Loss.named(loss), None if sampler is None else Sampler.named(sampler)
        self.reduction, self.seed, self.iteration = reduction, whole_number(seed, "seed"), 0

    def extra_repr(self) -> str:
        """Return loss, sampler and reduction."""
        noise = "" if self.sampler is None else f", sampler={self.sampler}"
        return f"{self.loss}{noise}, reduction={self.reduction}"

    def get_extra_state(self) -> dict[str, int]:
        """Return the count of calls."""
        return {"iteration": self.iteration}

    def set_extra_state(self, state: Mapping[str, int]) -> None:
        """Restore a count of calls."""
        self.iteration = int(state["iteration"])

    def forward(
        self,
        scores: torch.Tensor,
        labels: ArrayLike | torch.Tensor,
        starts: ArrayLike | torch.Tensor,
        weights: ArrayLike | torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the loss of packed lists.

        Args:
            scores: one a document, lists one after another.
            labels: one a document.
            starts: where each list starts, and the number of documents last.
            weights: one a list or one a document; see :class:`rankplug.losses.Objective` for weights that differ
                within a list.
        """
        # The wrapper of a function that torch.compile must not trace takes as long as a short list.
        values = self._untraced_values if torch.compiler.is_compiling() else self._values
        return self._reduced(values(scores, labels, starts, weights))

    @torch.compiler.disable
    def _untraced_values(self, *arguments: Any) -> torch.Tensor:
        return self._values(*arguments)

    def _values(
        self,
        scores: torch.Tensor,
        labels: ArrayLike | torch.Tensor,
        starts: ArrayLike | torch.Tensor,
        weights: ArrayLike | torch.Tensor | None,
    ) -> torch.Tensor:
        objective = self.loss.on(
            _array(labels, "labels").reshape(-1),
            _array(starts, "starts", "int64"),
            sampler=self.sampler,
            weights=None if weights is None else _array(weights, "weights"),
            seed=self.seed,
        )
        values = objective_value(objective, scores, iteration=self.iteration)
        # Past Module.__setattr__, which looks for parameters and buffers.
        self.__dict__["iteration"] += 1
        return values

    def from_padded(
        self,
        scores: torch.Tensor,
        labels: ArrayLike | torch.Tensor,
        mask: ArrayLike | torch.Tensor,
        weights: ArrayLike | torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the loss of lists padded to one length: scores, labels and mask of shape [lists, longest].

        What stands at padding, where the mask is False, is never read. A row without any document has the value 0.
        """
        for name, values in (("labels", labels), ("mask", mask), ("weights", weights)):
            refuse_masked(values, name)
        present = torch.as_tensor(mask, device=scores.device).bool()
        relevance = torch.as_tensor(labels, device=scores.device)
        if scores.ndim != 2 or not scores.shape == relevance.shape == present.shape:
            raise DataError(
                "scores, labels and mask must share one shape [lists, longest], got"
                f" {tuple(scores.shape)}, {tuple(relevance.shape)} and {tuple(present.shape)}"
            )
        lengths = present.sum(1).cpu()
        filled = lengths > 0
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), lengths[filled].cumsum(0)])
        packed = None if weights is None else torch.as_tensor(weights, device=scores.device)
        if packed is not None:
            packed = packed[present] if packed.shape == scores.shape else packed.reshape(-1)[filled.to(packed.device)]
        values = self._untraced_values(scores[present], relevance[present], starts, packed)
        rows = values.new_zeros(scores.shape[0])
        return self._reduced(rows.masked_scatter(filled.to(rows.device), values))

    def _reduced(self, values: torch.Tensor) -> torch.Tensor:
        if self.reduction == "none":
            return values
        return values.mean() if self.reduction == "mean" else values.sum()


def torch_loss(
    loss: Named | Loss, sampler: Named | Sampler | None = None, *, reduction: Reduction = "mean", seed: int = 0
) -> TorchLoss:
    """Make a PyTorch module of a loss, see :class:`TorchLoss`."""
    return TorchLoss(loss, sampler, reduction=reduction, seed=seed)


class _Value(torch.autograd.Function):
    """Values of the lists; the gradient is computed with them and stored for the backward pass."""

    @staticmethod
    def forward(ctx: Any, scores: torch.Tensor, objective: Objective, iteration: int, lists: Any) -> torch.Tensor:
        dtype = np.float64 if scores.dtype == torch.float64 else np.float32
        result = objective(_array(scores, "scores").reshape(-1), iteration=iteration, lists=lists, dtype=dtype)
        ctx.lengths = objective.lengths if lists is None else objective.lengths[np.asarray(lists)]
        ctx.gradient, ctx.loss = result.gradient, objective.loss
        ctx.save_for_backward(scores)
        return _like(scores, torch.from_numpy(result.value.astype(dtype, copy=False)))

    @staticmethod
    def backward(ctx: Any, above: torch.Tensor) -> tuple[Any, ...]:
        (scores,) = ctx.saved_tensors
        if torch.is_grad_enabled():
            product = _Product.apply(above, ctx.gradient, ctx.lengths, scores, ctx.loss)
        else:
            product = _product(above, ctx.gradient, ctx.lengths)
        product = _like(scores, product.view_as(scores))
        return product if product.dtype == scores.dtype else product.to(scores.dtype), None, None, None


class _Product(torch.autograd.Function):
    """The gradient by the scores, times what came from above; says clearly that it cannot be differentiated again."""

    @staticmethod
    def forward(
        ctx: Any,
        above: torch.Tensor,
        gradient: NDArray[Any],
        lengths: NDArray[np.int64],
        scores: torch.Tensor,
        loss: Loss,
    ) -> torch.Tensor:
        ctx.loss = loss
        return _product(above, gradient, lengths)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise FitError(
            f"the loss {ctx.loss} gives PyTorch first derivatives only; for second ones take the curvature of"
            f" rankplug.loss({str(ctx.loss)!r}).evaluate(...)"
        )


def _product(above: torch.Tensor, gradient: NDArray[Any], lengths: NDArray[np.int64]) -> torch.Tensor:
    """Return the gradient of every document times the number of its list from above, on the CPU."""
    # numpy repeats several times faster than torch, and torch multiplies without a warning where a number overflows.
    spread = torch.from_numpy(np.repeat(above.numpy(force=True), lengths))
    return spread.mul_(torch.from_numpy(gradient))


def _like(scores: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """Return a result on the device of the scores; to ask whether it is there is cheaper than to move it in vain."""
    return result if result.device == scores.device else result.to(scores.device)


def _array(values: ArrayLike | torch.Tensor, name: str, dtype: str = "float64") -> NDArray[Any]:
    if isinstance(values, torch.Tensor):
        values = (values if values.dtype != torch.bfloat16 else values.float()).numpy(force=True)
    return numbers(values, name, dtype)
