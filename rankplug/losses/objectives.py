"""Losses by name, evaluated over all lists; and objectives, which are losses bound to the labels of some data.

>>> import numpy as np
>>> result = Loss("cross_entropy").evaluate([0.2, 0.5, -0.1, 0.3], labels=[3, 0, 1, 2], starts=[0, 4])
>>> result.value.round(6)
array([1.450762])
>>> result.gradient.round(6)
array([-0.261669,  0.321713,  0.009893, -0.069937])
"""

from __future__ import annotations

import functools
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug.compiled import writable
from rankplug.data import Integers, check_starts
from rankplug.errors import BrokenPluginError, DataError, DivergedError, ParameterError, did_you_mean, shown
from rankplug.losses.list_losses import ListLoss
from rankplug.losses.padded_losses import PaddedLoss
from rankplug.registry import Named, parse, registry
from rankplug.samplers import Sampler
from rankplug.system import LARGEST_SEED, numbers, whole_number, workers

Step = Literal["gradient", "newton"]
STEPS = ("gradient", "newton")


class Evaluation(NamedTuple):
    """A loss at some scores."""

    value: NDArray[Any]
    """One number a list; nan where it was not asked for."""
    gradient: NDArray[Any]
    """Derivative of the list's value with respect to each document's score."""
    curvature: NDArray[Any]
    """Second derivative or a positive surrogate of it; ones where the loss has none."""


class Loss:
    """A loss with its parameters.

    Args:
        reference: its name, such as ``"approx_ndcg[eta=10]"``.
    """

    def __init__(self, reference: Named) -> None:
        self.reference = parse(reference)
        self.specification, self.parameters = registry().resolve("loss", self.reference)

    @staticmethod
    def named(reference: Named | Loss) -> Loss:
        """Return the loss of a name, or the loss itself."""
        return reference if isinstance(reference, Loss) else Loss(reference)

    def __str__(self) -> str:
        return str(self.reference)

    def __repr__(self) -> str:
        return f"<loss {self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Loss, (self.reference,)

    @functools.cached_property
    def implementation(self) -> ListLoss | PaddedLoss:
        """The function behind the loss."""
        implementation = self.specification.load()
        if not isinstance(implementation, (ListLoss, PaddedLoss)):
            raise BrokenPluginError(
                f"{self.specification} is implemented by {implementation!r}, which is neither a @list_loss nor a"
                " @padded_loss"
            )
        return implementation

    def on(
        self,
        labels: ArrayLike,
        starts: ArrayLike,
        *,
        sampler: Named | Sampler | None = None,
        weights: ArrayLike | None = None,
        seed: int = 0,
        step: Step = "gradient",
    ) -> Objective:
        """Bind the loss to labels, which gives a function of scores alone."""
        return Objective(self, labels, starts, sampler=sampler, weights=weights, seed=seed, step=step)

    def evaluate(
        self,
        scores: ArrayLike,
        labels: ArrayLike,
        starts: ArrayLike,
        *,
        sampler: Named | Sampler | None = None,
        weights: ArrayLike | None = None,
        seed: int = 0,
        iteration: int = 0,
        step: Step = "gradient",
    ) -> Evaluation:
        """Compute the value of every list, and gradient and curvature of every document.

        Args:
            scores: one a document, lists one after another.
            labels: one a document.
            starts: where each list starts, and the number of documents last.
            sampler: averages the loss over draws of noise on the scores.
            weights: one a list or one a document, see :class:`Objective`.
            seed: of the noise.
            iteration: of the noise; another iteration has other noise.
            step: what the derivatives are for, see :class:`Objective`.
        """
        objective = self.on(labels, starts, sampler=sampler, weights=weights, seed=seed, step=step)
        return objective(scores, iteration=iteration)


class ScoredLists(NamedTuple):
    """Scores of some lists of an objective, at which its loss is evaluated."""

    scores: NDArray[np.float64]
    """One a document, one list after another."""
    starts: Integers
    """Offsets at which the lists start in the scores, their number last."""
    lists: Integers
    """Positions of the lists among the objective's."""
    iteration: int
    """Number of the call in training; noise is drawn anew for each."""
    valued: bool
    """Wish for the value; without it, what is written in its place is ignored."""


class Objective:
    """A loss bound to labels, weights, a sampler and a seed; called with scores, it is what a backend minimises.

    Most losses answer with their gradient and curvature whatever ``step`` says. Some papers give boosting engines
    another pair, whose quotient is a better Newton step than gradient over diagonal curvature; those losses hand that
    pair over where ``step="newton"``, which boosting backends ask for. ``step="gradient"`` is always the true gradient.

    Weights multiply value, gradient and curvature. Documents of one list may have different weights where the loss is a
    sum over documents, and in boosting, whose engines multiply each document's gradient and curvature by its weight:
    the value then counts by the mean weight of the list. Elsewhere they are refused, as no value of a loss that
    compares documents has such a gradient.

    >>> objective = Loss("cross_entropy").on(labels=[1, 0, 0, 2], starts=[0, 2, 4])
    >>> objective([0.0, 0.0, 0.0, 0.0]).gradient
    array([-0.5,  0.5,  0.5, -0.5])
    >>> objective([0.0, 0.0], lists=[1]).gradient
    array([ 0.5, -0.5])
    """

    def __init__(
        self,
        loss: Named | Loss,
        labels: ArrayLike,
        starts: ArrayLike,
        *,
        sampler: Named | Sampler | None = None,
        weights: ArrayLike | None = None,
        seed: int = 0,
        step: Step = "gradient",
    ) -> None:
        self.loss = Loss.named(loss)
        self.labels = writable(labels, "labels")
        self.starts = check_starts(starts, self.labels.size)
        self.lengths = self.starts[1:] - self.starts[:-1]
        self.sampler = None if sampler is None else Sampler.named(sampler)
        self.seed = whole_number(seed, "seed", most=LARGEST_SEED)
        if not isinstance(step, str) or step not in STEPS:
            known = did_you_mean(step if isinstance(step, str) else "", STEPS)
            raise ParameterError(f"step={shown(step)} is not possible: {known}")
        self.step: Step = step
        self.weights = None if weights is None else writable(weights, "weights")
        self._check_labels()
        self.worth_threads = workers.WORTH_A_THREAD
        implementation = self.loss.implementation
        self._per_document = isinstance(implementation, PaddedLoss) and implementation.per_document
        self.list_weights, self.document_weights = self._split_weights()
        self._evaluate = implementation.bind(self)

    def __reduce__(self) -> tuple[Any, ...]:
        options: dict[str, Any] = {
            "sampler": self.sampler,
            "weights": self.weights,
            "seed": self.seed,
            "step": self.step,
        }
        return functools.partial(Objective, self.loss, self.labels, self.starts, **options), ()

    def positions(self) -> NDArray[np.int32]:
        """Return the position of each document in its list."""
        return (np.arange(self.labels.size) - np.repeat(self.starts[:-1], self.lengths)).astype(np.int32)

    def _split_weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the weights of the lists, and those of the documents where they differ within a list."""
        ones: NDArray[np.float64] = np.ones(self.lengths.size)
        if self.weights is None:
            return ones, None
        if not (np.isfinite(self.weights).all() and (self.weights >= 0).all()):
            raise DataError("weights must be finite and zero or more")
        of_lists = list_weights(self.weights, self.starts)
        if of_lists.size == self.lengths.size:
            return of_lists, None
        if of_lists.size != self.labels.size:
            raise DataError(
                f"weights must be one a list ({self.lengths.size}) or one a document ({self.labels.size}),"
                f" got {self.weights.size}"
            )
        if self.step == "gradient" and not self._per_document:
            differing = np.repeat(self.weights[self.starts[:-1]], self.lengths) != self.weights
            query = int(np.searchsorted(self.starts, np.argmax(differing), side="right")) - 1
            raise DataError(
                f"the documents of list {query} have different weights, but {self.loss.specification} compares"
                " documents, so that no value has gradients weighted one by one; give one weight a list, or train by"
                " boosting"
            )
        return ones, self.weights

    def _check_labels(self) -> None:
        specification = self.loss.specification
        if not self.labels.size:
            return
        largest = np.maximum.reduce(self.labels)
        # A nan is neither below infinity nor zero or more.
        if not (largest < np.inf and np.minimum.reduce(self.labels) >= 0):
            raise DataError(f"{specification} needs finite labels of zero or more")
        if specification.largest_label is not None and largest > specification.largest_label:
            raise DataError(
                f"{specification} takes labels up to {specification.largest_label}, these go to {largest:g}"
            )
        if specification.longest is not None and self.lengths.max() > specification.longest:
            raise DataError(
                f"{specification} takes lists of up to {specification.longest} documents, the longest here has"
                f" {self.lengths.max()}; truncate the lists first"
            )

    def __call__(
        self,
        scores: ArrayLike,
        *,
        iteration: int = 0,
        lists: ArrayLike | None = None,
        dtype: type[np.floating[Any]] = np.float64,
        valued: bool = True,
    ) -> Evaluation:
        """Evaluate the loss at some scores.

        Args:
            scores: of all documents, or of the documents of ``lists``, one list after another.
            iteration: counts calls in training; noise is drawn anew for each.
            lists: positions of the lists that are scored, each at most once.
            dtype: of gradient and curvature.
            valued: whether the value is wanted; for some losses it costs more than the gradient.
        """
        packed = writable(scores, "scores").reshape(-1)
        if lists is None:
            selected, starts = np.arange(self.lengths.size), self.starts
        else:
            selected = numbers(lists, "lists", "int64").reshape(-1)
            # A batch of small lists takes little longer than these lines: reductions go by ufuncs, which start faster
            # than methods, and without a sign a negative number is a very large one.
            if selected.size and np.maximum.reduce(selected.view(np.uint64)) >= self.lengths.size:
                raise DataError(
                    f"lists are positions from 0 to {self.lengths.size - 1}, got {shown(selected.tolist())}"
                )
            starts = np.zeros(selected.size + 1, np.int64)
            np.add.accumulate(self.lengths[selected], out=starts[1:])
        if packed.size != starts[-1]:
            raise DataError(f"{starts[-1]} documents, but {packed.size} scores")
        if not np.logical_and.reduce(np.isfinite(packed)):
            bad = int(np.flatnonzero(~np.isfinite(packed))[0])
            raise DivergedError(
                f"the score of document {bad} is {packed[bad]} at iteration {iteration}; lower the learning rate or"
                " check the features"
            )
        out = Evaluation(np.empty(selected.size), np.empty(packed.size, dtype), np.empty(packed.size, dtype))
        call = whole_number(iteration, "iteration", most=LARGEST_SEED)
        self._evaluate(ScoredLists(packed, starts, selected, call, valued), out)
        if not valued:
            out.value.fill(np.nan)
        if self.document_weights is not None and not self._per_document:
            documents = self.document_weights if lists is None else self.document_weights[_rows(self.starts, selected)]
            for derivative in (out.gradient, out.curvature):
                np.multiply(derivative, documents, out=derivative, casting="same_kind")
            if selected.size:
                np.multiply(out.value, np.add.reduceat(documents, starts[:-1]) / np.diff(starts), out=out.value)
        return out


def _rows(starts: Integers, lists: Integers) -> Integers:
    return np.concatenate([np.arange(starts[position], starts[position + 1]) for position in lists])


def list_weights(weights: NDArray[np.float64], starts: Integers) -> NDArray[np.float64]:
    """Return one weight a list where the documents of each list have the same; other weights as they are."""
    if weights.shape != (starts[-1],):
        return weights
    of_lists = weights[starts[:-1]]
    return of_lists if np.array_equal(np.repeat(of_lists, np.diff(starts)), weights) else weights
