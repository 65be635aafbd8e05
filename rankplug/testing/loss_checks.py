"""What a loss must keep, each as a function that raises :class:`ContractError` with the input that shows it.

Every check is on its own: ``for check in CHECKS: check(case)``. They serve :class:`~rankplug.testing.LossContract` and
the command line alike.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankplug.losses import Evaluation, Loss, loss
from rankplug.threads import use_threads

Floats = NDArray[np.float64]
ALL_ZERO_CASES = frozenset({"one document", "equal labels", "no relevant document"})


class ContractError(AssertionError):
    """A contract that is not kept: what, on which input, and what it means."""


@dataclass(frozen=True)
class Case:
    """A loss under test.

    Args:
        name: the loss with its parameters.
        largest_label: labels are drawn from 0 to this.
        zero_cases: where the gradient must be zero, of ``one document``, ``equal labels``, ``no relevant document``.
        equal_labels_by_position: documents of equal label are told apart by their position.
        tolerance: of finite differences, relative to the largest derivative.
        longest: of the lists of the size check.
    """

    name: str
    largest_label: int = 4
    zero_cases: frozenset[str] = ALL_ZERO_CASES
    equal_labels_by_position: bool = False
    tolerance: float = 1e-5
    longest: int = 10_000
    seed: int = field(default=20)

    @cached_property
    def loss(self) -> Loss:
        return loss(self.name)

    @property
    def noisy(self) -> bool:
        return bool({"noise", "sampled rankings"} & self.loss.specification.needs)

    def labels(self, documents: int, generator: np.random.Generator) -> Floats:
        """Labels of which at least two differ, when there are two documents."""
        labels = generator.integers(0, self.largest_label + 1, documents).astype(float)
        if documents > 1:
            labels[0], labels[1] = self.largest_label, 0.0
        return labels

    def lists(self, lengths: list[int]) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Scores without ties, labels and starts of lists of some lengths."""
        generator = np.random.default_rng(self.seed)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        labels = np.concatenate([self.labels(length, generator) for length in lengths])
        return generator.normal(size=int(starts[-1])), labels, starts

    def fail(self, what: str, scores: Any, labels: Any, meaning: str) -> ContractError:
        shown = f"scores={np.asarray(scores).tolist()}, labels={np.asarray(labels).tolist()}"
        if len(shown) > 2000:
            shown = f"{np.asarray(scores).size} documents, seed {self.seed}"
        return ContractError(f"{self.name}: {what}, on {shown}; {meaning}")


def gradient_is_the_derivative_of_the_value(case: Case, sampler: str | None = None) -> None:
    """Central differences of the value, with the noise held fixed."""
    if case.loss.specification.gradient != "exact":
        return
    scores, labels, starts = case.lists([7, 5])
    bound = case.loss.on(labels, starts, sampler=sampler, seed=3)
    gradient = bound(scores, iteration=2).gradient
    expected = _differences(lambda moved: bound(moved, iteration=2).value.sum(), scores)
    _compare(case, "the gradient", gradient, expected, scores, labels, "training follows a wrong direction")


def gradient_holds_under_noise(case: Case) -> None:
    """The same through a sampler, with its chain rule."""
    gradient_is_the_derivative_of_the_value(case, "gumbel[beta=0.5,samples=3]")


def exact_curvature_is_the_second_derivative(case: Case) -> None:
    """Central differences of the gradient, document by document."""
    if case.loss.specification.curvature != "exact" or case.loss.specification.gradient != "exact":
        return
    scores, labels, starts = case.lists([6, 4])
    bound = case.loss.on(labels, starts, seed=3)
    curvature = bound(scores).curvature
    step = 1e-5
    expected = np.empty_like(scores)
    for document in range(scores.size):
        moved = scores.copy()
        moved[document] += step
        above = bound(moved).gradient[document]
        moved[document] -= 2 * step
        expected[document] = (above - bound(moved).gradient[document]) / (2 * step)
    _compare(case, "the curvature", curvature, expected, scores, labels, "boosting takes steps of a wrong length")


def curvature_is_never_negative(case: Case) -> None:
    """Boosting divides by the curvature."""
    scores, labels, starts = case.lists([9, 1, 4])
    if case.loss.evaluate(scores, labels, starts).curvature.min() < 0:
        raise case.fail("the curvature is negative", scores, labels, "boosting steps uphill there")


def adding_a_constant_changes_nothing(case: Case) -> None:
    """Shift invariance, where the specification promises it."""
    if not case.loss.specification.shift_invariant:
        return
    scores, labels, starts = case.lists([8, 3])
    here, there = (case.loss.evaluate(scores + shift, labels, starts, seed=1) for shift in (0.0, 64.0))
    _same(case, here, there, scores, labels, "declare shift_invariant=False", tolerance=1e-8)
    total = np.add.reduceat(here.gradient, starts[:-1])
    if np.abs(total).max() > 1e-8 * (1 + np.abs(here.gradient).max()):
        raise case.fail("the gradient of a list does not sum to zero", scores, labels, "declare shift_invariant=False")


def order_of_documents_does_not_matter(case: Case) -> None:
    """Permuting a list's documents permutes the result."""
    if case.noisy:
        return
    scores, labels, starts = case.lists([9])
    if case.equal_labels_by_position:
        scores, labels, starts = scores[:3], np.array([2.0, 1.0, 0.0]), np.array([0, 3])
    permutation = np.random.default_rng(5).permutation(scores.size)
    here = case.loss.evaluate(scores, labels, starts)
    there = case.loss.evaluate(scores[permutation], labels[permutation], starts)
    back = Evaluation(there.value, *(array[np.argsort(permutation)] for array in there[1:]))
    _same(case, here, back, scores, labels, "the loss depends on the order of the file", tolerance=1e-9)


def uninformative_lists_give_no_gradient(case: Case) -> None:
    """One document, equal labels, no relevant document: where the loss is defined to be silent, it is."""
    top = float(case.largest_label)
    lists = {
        "one document": ([0.3], [top]),
        "equal labels": ([0.3, -1.0, 0.5], [top, top, top]),
        "no relevant document": ([0.3, -1.0, 0.5], [0.0, 0.0, 0.0]),
    }
    for name, (scores, labels) in lists.items():
        result = case.loss.evaluate(scores, labels, [0, len(scores)])
        _finite(case, result, scores, labels)
        if name in case.zero_cases and np.abs(result.gradient).max() > 1e-12:
            raise case.fail(f"the gradient of a list with {name} is not zero", scores, labels, "it would add noise")


def extreme_scores_give_finite_results(case: Case) -> None:
    """Gaps of 1e3, equal scores and ties."""
    _, labels, starts = case.lists([6, 6, 6])
    for scores in (
        np.tile([1e3, -1e3, 0.0, 5e2, -2.0, 1e3], 3),
        np.zeros(18),
        np.repeat([1.0, -1.0], 9),
        np.linspace(-1e3, 1e3, 18),
        np.full(18, -1e6),
    ):
        for sampler in (None, "gumbel[samples=2]"):
            _finite(case, case.loss.evaluate(scores, labels, starts, sampler=sampler), scores, labels)


def short_and_long_lists_give_finite_results(case: Case) -> None:
    """One document to the longest allowed."""
    longest = min(case.longest, case.loss.specification.longest or case.longest)
    for length in (1, 2, 3, 33, longest):
        scores, labels, starts = case.lists([length])
        _finite(case, case.loss.evaluate(scores, labels, starts), scores, labels)


def threads_do_not_change_results(case: Case) -> None:
    """Bit for bit, with and without noise."""
    longest = case.loss.specification.longest or 300
    scores, labels, starts = case.lists([5, min(300, longest), 1, 40, 3, min(200, longest)] * 3)
    for sampler in (None, "gumbel[samples=2]"):
        results = []
        for number in (1, 3):
            with use_threads(number):
                results.append(case.loss.evaluate(scores, labels, starts, sampler=sampler, seed=9))
        if any((one != other).any() for one, other in zip(*results, strict=True)):
            raise case.fail("1 and 3 threads differ", scores, labels, "runs cannot be repeated")


def single_precision_scores_are_accepted(case: Case) -> None:
    """float32 scores and outputs, as boosting libraries and networks hand them over."""
    scores, labels, starts = case.lists([12, 5])
    single = scores.astype(np.float32)
    bound = case.loss.on(labels, starts)
    here, there = bound(single.astype(np.float64)), bound(single, dtype=np.float32)
    if there.gradient.dtype != np.float32:
        raise case.fail("float32 was asked for", scores, labels, f"the gradient is {there.gradient.dtype}")
    _same(case, here, there, scores, labels, "precision is lost before the end", tolerance=1e-6)


def lists_do_not_see_each_other(case: Case) -> None:
    """Each list alone gives what it gives among others."""
    scores, labels, starts = case.lists([7, 2, 11])
    bound = case.loss.on(labels, starts, seed=4)
    together = bound(scores, iteration=1)
    for one in range(3):
        part = slice(starts[one], starts[one + 1])
        alone = bound(scores[part], lists=[one], iteration=1)
        expected = Evaluation(together.value[one : one + 1], together.gradient[part], together.curvature[part])
        _same(case, expected, alone, scores[part], labels[part], "mini-batches train on something else", 1e-12)


def weights_multiply_the_result(case: Case) -> None:
    """One weight a list scales its value, gradient and curvature; one a document scales the derivatives."""
    scores, labels, starts = case.lists([7, 4])
    plain = case.loss.evaluate(scores, labels, starts)
    weights = np.array([2.0, 0.5])
    spread = np.repeat(weights, np.diff(starts))
    weighted = case.loss.evaluate(scores, labels, starts, weights=weights)
    expected = Evaluation(plain.value * weights, plain.gradient * spread, plain.curvature * spread)
    _same(case, expected, weighted, scores, labels, "weights are not honoured", 1e-12)
    by_document = case.loss.evaluate(scores, labels, starts, weights=spread)
    _same(case, expected._replace(value=plain.value), by_document, scores, labels, "weights are not honoured", 1e-12)


def noise_is_repeated_by_seed_and_iteration(case: Case) -> None:
    """The same numbers give the same noise, also after a round trip through pickle."""
    scores, labels, starts = case.lists([9, 6])
    bound = case.loss.on(labels, starts, sampler="gumbel[samples=2]", seed=7)
    copy = pickle.loads(pickle.dumps(bound))
    _same(case, bound(scores, iteration=3), copy(scores, iteration=3), scores, labels, "runs cannot be repeated", 0.0)
    if (bound(scores, iteration=3).gradient == bound(scores, iteration=4).gradient).all():
        raise case.fail("noise is the same at iterations 3 and 4", scores, labels, "noise must be drawn anew")


CHECKS: tuple[Callable[[Case], None], ...] = (
    gradient_is_the_derivative_of_the_value,
    gradient_holds_under_noise,
    exact_curvature_is_the_second_derivative,
    curvature_is_never_negative,
    adding_a_constant_changes_nothing,
    order_of_documents_does_not_matter,
    uninformative_lists_give_no_gradient,
    extreme_scores_give_finite_results,
    short_and_long_lists_give_finite_results,
    threads_do_not_change_results,
    single_precision_scores_are_accepted,
    lists_do_not_see_each_other,
    weights_multiply_the_result,
    noise_is_repeated_by_seed_and_iteration,
)


def _differences(value: Callable[[Floats], float], scores: Floats, step: float = 1e-6) -> Floats:
    expected = np.empty_like(scores)
    for document in range(scores.size):
        moved = scores.copy()
        moved[document] += step
        above = value(moved)
        moved[document] -= 2 * step
        expected[document] = (above - value(moved)) / (2 * step)
    return expected


def _compare(
    case: Case, what: str, given: Floats, expected: Floats, scores: Floats, labels: Floats, meaning: str
) -> None:
    gap = np.abs(given - expected).max()
    if not gap <= case.tolerance * max(1.0, np.abs(expected).max()):
        raise case.fail(
            f"{what} is {given.tolist()}, finite differences give {expected.tolist()}", scores, labels, meaning
        )


def _same(
    case: Case, here: Evaluation, there: Evaluation, scores: Any, labels: Any, meaning: str, tolerance: float
) -> None:
    for name, one, other in zip(Evaluation._fields, here, there, strict=True):
        if not np.abs(one - other).max() <= tolerance * max(1.0, np.abs(one).max()):
            raise case.fail(f"the {name} differs, {one.tolist()} and {other.tolist()}", scores, labels, meaning)


def _finite(case: Case, result: Evaluation, scores: Any, labels: Any) -> None:
    for name, array in zip(Evaluation._fields, result, strict=True):
        if not np.isfinite(array).all():
            raise case.fail(f"the {name} is not finite", scores, labels, "training ends in nan")
