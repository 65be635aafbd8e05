"""Losses written as a PyTorch expression over padded lists; autograd finds their derivatives.

The function receives ``scores`` and ``labels`` of shape [lists, longest], ``mask`` (True where a document stands, False
where a shorter list is filled up) and the plugin's parameters by name. It returns one value a list. Where it has an
argument ``uniform``, that is a function from a number of draws to numbers in (0, 1) of shape [draws, lists, longest],
which are drawn anew in each iteration. What stands at padding are finite scores and labels that mean nothing: sums and
means go over ``mask`` only.

>>> @padded_loss(cost="documents")
... def squared(scores, labels, mask, scale):
...     return (scale * (scores - labels).square() * mask).sum(1)
>>> squared.wants
('scale',)

Lists of similar length share a tensor, so that little is padded, and no tensor grows beyond a bound. What a boosting
library takes as curvature is the user's choice, see :class:`~rankplug.losses.PaddedParameters`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.compiled import ArrayFunction, NamedFunction, key_of, uniform
from rankplug.data import Integers
from rankplug.errors import BrokenPluginError
from rankplug.losses.list_losses import Cost
from rankplug.system import require_modules, workers

if TYPE_CHECKING:
    import torch

    from rankplug.losses.objectives import Evaluation, Objective, ScoredLists


LARGEST_TENSOR = 2_000_000
"""Numbers in one [lists, longest] tensor, or [lists, longest, longest] where the cost is in pairs."""
LONGEST_OVER_SHORTEST = 1.25
"""Largest ratio of the lengths of lists that share a tensor."""
SIGNS = -1
"""Number in place of a sample's that keys the random signs of Hutchinson's estimate."""


_filling = (0.0, 0.0)


@contextlib.contextmanager
def padding_filled(score: float, label: float) -> Iterator[None]:
    """Fill padding with a score and a label, which changes nothing for a loss that respects its mask."""
    global _filling
    before, _filling = _filling, (score, label)
    try:
        yield
    finally:
        _filling = before


class PaddedLoss(NamedFunction):
    """A PyTorch expression over padded lists; pickled by reference.

    Args:
        function: from padded scores, labels, mask and parameters to one value a list.
        cost: whether its tensors grow with the documents or with the pairs of a list; bounds its memory.
        per_document: whether the function returns one value a document, which are added up, so that documents may have
            weights of their own.
    """

    supplied = frozenset({"scores", "labels", "mask", "uniform"})

    def __init__(self, function: Callable[..., Any], cost: Cost = "pairs", per_document: bool = False) -> None:
        super().__init__(function)
        self.cost, self.per_document = cost, per_document

    def __call__(self, *arguments: Any, **parameters: Any) -> Any:
        return self.function(*arguments, **parameters)

    def bind(self, objective: Objective) -> Callable[[ScoredLists, Evaluation], None]:
        """Return what computes the loss over the lists of an objective."""
        return _BoundPaddedLoss(objective, self)


def padded_loss(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a loss from a PyTorch expression; a decorator, with or without the options of :class:`PaddedLoss`."""
    if function is None:
        return partial(PaddedLoss, **options)
    return PaddedLoss(function, **options)


class _BoundPaddedLoss:
    """A :class:`PaddedLoss` over the lists of an objective, on the CPU in double precision.

    Each tensor is worked on by one thread, so results do not depend on the number of threads.
    """

    def __init__(self, objective: Objective, loss: PaddedLoss) -> None:
        self.objective, self.loss = objective, loss
        parameters = objective.loss.parameters
        self.keywords = {name: loss.value_of(parameters, name) for name in loss.wants}
        self.curvature: str = getattr(parameters, "curvature", "ones")
        self.probes: int = getattr(parameters, "probes", 1)

    def __call__(self, scored: ScoredLists, out: Evaluation) -> None:
        require_modules("torch")
        import torch

        scores, starts, lists, iteration, _ = scored
        bound = self.objective
        draws, slopes = scores[None], np.ones((1, lists.size))
        if bound.sampler is not None:
            draws, slopes = bound.sampler.draws_and_slopes(scores, starts, lists, bound.seed, iteration)
        batches = list(_batches(np.diff(starts), self.loss.cost))

        def work(begin: int, end: int) -> None:
            for members in batches[begin:end]:
                batch = _Batch(self, scored, members)
                for part, whole in zip(batch.expected(draws, slopes), out, strict=True):
                    if part.ndim == 1:
                        whole[members] = part
                    else:
                        whole[batch.documents[batch.mask]] = part[batch.mask]

        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            workers.run(work, [(batch, batch + 1) for batch in range(len(batches))])
        finally:
            torch.set_num_threads(before)


class _Batch:
    """Lists of similar length, padded."""

    def __init__(self, evaluator: _BoundPaddedLoss, scored: ScoredLists, members: Integers) -> None:
        scores, starts, lists, self.iteration, _ = scored
        self.evaluator, self.members = evaluator, members
        bound = evaluator.objective
        lengths = np.diff(starts)[members]
        columns = np.arange(lengths.max())
        self.mask = columns < lengths[:, None]
        self.documents = np.where(self.mask, starts[members][:, None] + columns, 0)
        self.data_lists = lists[members]
        rows = np.where(self.mask, bound.starts[self.data_lists][:, None] + columns, 0)
        self.filling, filling_label = _filling
        self.scores = self.padded(scores)
        self.labels = np.where(self.mask, bound.labels[rows], filling_label)
        self.weights = bound.list_weights[self.data_lists]
        self.document_weights = None if bound.document_weights is None else bound.document_weights[rows] * self.mask

    def padded(self, packed: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the documents' values, filled up at padding."""
        padded: NDArray[np.float64] = np.where(self.mask, packed[self.documents], self.filling)
        return padded

    def expected(self, draws: NDArray[np.float64], slopes: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Return the value, gradient and curvature, averaged over the draws."""
        import torch

        with torch.inference_mode(False), torch.enable_grad(), torch.autocast("cpu", enabled=False):
            parts = [
                self.derivatives(self.padded(draw), slope[self.members], sample)
                for sample, (draw, slope) in enumerate(zip(draws, slopes, strict=True))
            ]
        total = [np.mean(part, axis=0) for part in zip(*parts, strict=True)]
        weights = self.weights[:, None]
        curvature = np.abs(total[2]) if self.evaluator.curvature != "ones" else np.ones_like(total[2])
        return total[0] * self.weights, total[1] * weights, curvature * weights

    def derivatives(self, draw: NDArray[np.float64], slope: NDArray[np.float64], sample: int) -> Any:
        """Return the value, gradient and diagonal of the Hessian by the scores, for one draw of perturbed scores."""
        import torch

        mask = torch.from_numpy(self.mask)
        leaf = torch.from_numpy(self.scores).clone().requires_grad_(True)
        seen = torch.from_numpy(slope)[:, None] * (leaf - leaf.detach()) + torch.from_numpy(draw)
        bound = self.evaluator.objective
        if bound.sampler is not None and not bound.loss.specification.shift_invariant:
            seen = seen.masked_fill(~mask, -torch.inf).log_softmax(1).masked_fill(~mask, self.filling)
        loss, keywords = self.evaluator.loss, dict(self.evaluator.keywords)
        if "uniform" in loss.arguments:
            keywords["uniform"] = partial(self.uniform, 2 * sample)
        values = loss.function(seen, torch.from_numpy(self.labels), mask, **keywords)
        per_document = loss.per_document
        if values.shape != (mask.shape if per_document else mask.shape[:1]):
            raise BrokenPluginError(
                f"{loss.__module__}.{loss.__name__} returned a tensor of shape"
                f" {tuple(values.shape)} for {self.members.size} lists; return one value a"
                f" {'document' if per_document else 'list'}"
            )
        if per_document:
            weights = mask if self.document_weights is None else torch.from_numpy(self.document_weights)
            values = (values * weights).sum(1)
        second = self.evaluator.curvature != "ones"
        (gradient,) = torch.autograd.grad(values.sum(), leaf, create_graph=second)
        curvature = self.second_derivatives(gradient, leaf) if second else torch.ones_like(leaf)
        return values.detach().numpy(), gradient.detach().numpy(), curvature.numpy()

    def uniform(self, sample: int, draws: int) -> torch.Tensor:
        """Draw numbers in (0, 1) for every document, of its own key each."""
        import torch

        drawn = np.full((draws, *self.mask.shape), 0.5)
        bound = self.evaluator.objective
        _fill_uniform(bound.seed, self.iteration, self.data_lists, self.mask.sum(1), sample, drawn)
        return torch.from_numpy(drawn)

    def second_derivatives(self, gradient: torch.Tensor, leaf: torch.Tensor) -> torch.Tensor:
        """Return the diagonal of the Hessian of every list, exact or estimated."""
        import torch

        if not gradient.requires_grad:
            return torch.zeros_like(leaf)

        def product(vector: torch.Tensor) -> torch.Tensor:
            return torch.autograd.grad(gradient, leaf, vector, retain_graph=True)[0]

        if self.evaluator.curvature == "hutchinson":
            signs = (self.uniform(SIGNS, self.evaluator.probes) - 0.5).sign()
            return torch.stack([sign * product(sign) for sign in signs]).mean(0)
        diagonal = torch.zeros_like(leaf)
        for column in range(leaf.shape[1]):
            unit = torch.zeros_like(leaf)
            unit[:, column] = 1.0
            diagonal[:, column] = product(unit)[:, column]
        return diagonal


@ArrayFunction
def _fill_uniform(
    seed: int,
    iteration: int,
    lists: Integers,
    lengths: Integers,
    sample: int,
    drawn: NDArray[np.float64],
) -> None:
    for draw in range(drawn.shape[0]):
        for row in range(lists.size):
            key = key_of(seed, iteration, lists[row], sample + (draw << 32))
            for column in range(lengths[row]):
                drawn[draw, row, column] = uniform(key, column)


def _batches(lengths: Integers, cost: Cost) -> Iterator[Integers]:
    """Yield the positions of the lists that share a tensor."""
    order = np.argsort(lengths, kind="stable")
    begin = 0
    for end in range(1, order.size + 1):
        if end < order.size:
            longest = int(lengths[order[end]])
            size = (end + 1 - begin) * longest * (longest if cost == "pairs" else 1)
            if size <= LARGEST_TENSOR and longest <= LONGEST_OVER_SHORTEST * int(lengths[order[begin]]) + 1:
                continue
        yield order[begin:end]
        begin = end
