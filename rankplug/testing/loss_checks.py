"""What a loss must keep. Each check is on its own: ``for check in CHECKS: check(Case("my_loss"))``."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankplug.losses import Evaluation, Loss, loss
from rankplug.system import use_threads
from rankplug.testing.checks import Contract, NotApplicableError
from rankplug.testing.given import Floats, Given

NOISE = "gumbel[beta=0.5,samples=3]"


@dataclass(frozen=True)
class Case:
    """A loss under test.

    Args:
        name: the loss with its parameters.
        largest_label: labels are drawn from 0 to this; what the loss says it takes, or 4.
        zero_cases: where the gradient must be zero, of ``one document``, ``equal labels``, ``no relevant document``;
            what the loss says of itself.
        equal_labels_by_position: documents of equal label are told apart by their position.
        tolerance: of finite differences, relative to the largest derivative.
        longest: of the lists of the size check.
    """

    name: str
    largest_label: int | None = None
    zero_cases: frozenset[str] | None = None
    equal_labels_by_position: bool = False
    tolerance: float = 1e-5
    longest: int = 10_000
    seed: int = 20

    def __str__(self) -> str:
        return self.name

    @cached_property
    def loss(self) -> Loss:
        return loss(self.name)

    @property
    def noisy(self) -> bool:
        return bool({"noise", "sampled rankings"} & self.loss.specification.needs)

    @property
    def silent_on(self) -> frozenset[str]:
        return self.loss.specification.zero_gradient if self.zero_cases is None else self.zero_cases

    @property
    def highest_label(self) -> int:
        declared = self.loss.specification
        if self.largest_label is not None or declared.largest_label is not None:
            return self.largest_label or declared.largest_label or 1
        return 1 if "binary labels" in declared.needs else 4

    def shorter(self, length: int) -> int:
        """The length, or the longest list the loss can take."""
        return min(length, self.loss.specification.longest or length)

    def labels(self, documents: int, generator: np.random.Generator) -> Floats:
        """Labels of which at least two differ, when there are two documents."""
        labels = generator.integers(0, self.highest_label + 1, documents).astype(float)
        if documents > 1:
            labels[0], labels[1] = self.highest_label, 0.0
        return labels

    def lists(self, *lengths: int) -> Given:
        """Lists of some lengths with scores that differ."""
        generator = np.random.default_rng(self.seed)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        labels = np.concatenate([self.labels(length, generator) for length in lengths])
        return Given(generator.normal(size=int(starts[-1])), labels, starts)

    def evaluate(self, given: Given, **options: Any) -> Evaluation:
        return self.loss.evaluate(given.scores, given.labels, given.starts, **options)


CONTRACT = Contract("loss", Case, "rp.loss({name!r}).evaluate(scores, labels, starts)")


def _lists(*lengths: int) -> Callable[[Case], Iterator[Given]]:
    def inputs(case: Case) -> Iterator[Given]:
        yield case.lists(*(case.shorter(length) for length in lengths))

    return inputs


@CONTRACT.check(
    inputs=_lists(7, 5),
    means="training follows a wrong direction",
    fix="derive again what the function returns, or declare gradient='lambda' if the gradient is defined directly",
)
def gradient_is_the_derivative_of_the_value(case: Case, given: Given, sampler: str | None = None) -> str | None:
    """Central differences of the value, with the noise held fixed."""
    if case.loss.specification.gradient != "exact":
        raise NotApplicableError("the gradient is defined directly")
    bound = case.loss.on(given.labels, given.starts, sampler=sampler, seed=3)
    gradient = bound(given.scores, iteration=2).gradient
    expected = _differences(lambda moved: bound(moved, iteration=2).value.sum(), given.scores)
    return _compare(case, "the gradient", gradient, expected)


@CONTRACT.check(
    inputs=_lists(7, 5),
    means="training under noise follows a wrong direction",
    fix="declare shift_invariant truthfully: through a sampler the loss sees log-softmax scores",
)
def gradient_holds_under_noise(case: Case, given: Given) -> str | None:
    """The same through a sampler, with its chain rule."""
    complaint: str | None = gradient_is_the_derivative_of_the_value.claim(case, given, NOISE)
    return complaint


@CONTRACT.check(
    inputs=_lists(6, 4),
    means="boosting takes steps of a wrong length",
    fix="fill in the second derivative, or declare curvature='surrogate'",
)
def exact_curvature_is_the_second_derivative(case: Case, given: Given) -> str | None:
    """Central differences of the gradient, document by document."""
    if case.loss.specification.curvature != "exact" or case.loss.specification.gradient != "exact":
        raise NotApplicableError("the curvature is not declared exact")
    bound = case.loss.on(given.labels, given.starts, seed=3)
    curvature = bound(given.scores).curvature
    step = 1e-5
    expected = np.empty_like(given.scores)
    for document in range(given.scores.size):
        moved = given.scores.copy()
        moved[document] += step
        above = bound(moved).gradient[document]
        moved[document] -= 2 * step
        expected[document] = (above - bound(moved).gradient[document]) / (2 * step)
    return _compare(case, "the curvature", curvature, expected)


@CONTRACT.check(
    inputs=_lists(9, 1, 4),
    means="boosting divides by it and steps uphill there",
    fix="take the absolute value or a positive bound, and declare curvature='surrogate'",
)
def curvature_is_never_negative(case: Case, given: Given) -> str | None:
    """Boosting divides by the curvature."""
    curvature = case.evaluate(given).curvature
    return f"the curvature is negative, {curvature.min():g}" if curvature.min() < 0 else None


@CONTRACT.check(
    inputs=_lists(8, 3),
    means="noise on the scores is not passed on rightly, as the framework relies on it",
    fix="declare shift_invariant=False",
)
def adding_a_constant_changes_nothing(case: Case, given: Given) -> str | None:
    """Shift invariance, where the specification promises it."""
    if not case.loss.specification.shift_invariant:
        raise NotApplicableError("the loss is declared to depend on the scores' height")
    moved = Given(given.scores + 64.0, given.labels, given.starts)
    here, there = (case.evaluate(one, seed=1) for one in (given, moved))
    if complaint := _same(here, there, 1e-8):
        return f"adding 64 to all scores changes the loss: {complaint}"
    total = np.add.reduceat(here.gradient, given.starts[:-1])
    if np.abs(total).max() > 1e-8 * (1 + np.abs(here.gradient).max()):
        return f"the gradient of a list does not sum to zero, but to {total.tolist()}"
    return None


def _one_list(case: Case) -> Iterator[Given]:
    if case.equal_labels_by_position:
        yield Given(case.lists(3).scores, np.array([2.0, 1.0, 0.0]), np.array([0, 3]))
    else:
        yield case.lists(case.shorter(9))


@CONTRACT.check(
    inputs=_one_list,
    means="the loss depends on the order of the file",
    fix="treat documents of equal label alike, and do not use their positions",
)
def order_of_documents_does_not_matter(case: Case, given: Given) -> str | None:
    """Permuting a list's documents permutes the result."""
    if case.noisy:
        raise NotApplicableError("noise is drawn by position")
    if len(given.starts) != 2:
        return None
    permutation = np.random.default_rng(5).permutation(given.scores.size)
    here = case.evaluate(given)
    there = case.evaluate(Given(given.scores[permutation], given.labels[permutation], given.starts))
    back = Evaluation(there.value, *(array[np.argsort(permutation)] for array in there[1:]))
    complaint = _same(here, back, 1e-9)
    return f"in the order {permutation.tolist()}, put back, {complaint}" if complaint else None


def _uninformative(case: Case) -> Iterator[Given]:
    top = float(case.highest_label)
    yield Given.of([0.3], [top])
    yield Given.of([0.3, -1.0, 0.5], [top, top, top])
    yield Given.of([0.3, -1.0, 0.5], [0.0, 0.0, 0.0])


@CONTRACT.check(
    inputs=_uninformative,
    means="lists that say nothing about order would add noise to training",
    fix="return 0 for such a list, or declare in the specification's zero_gradient where the loss is silent",
)
def uninformative_lists_give_no_gradient(case: Case, given: Given) -> str | None:
    """One document, equal labels, no relevant document: where the loss is declared to be silent, it is."""
    result = case.evaluate(given)
    if complaint := _not_finite(result):
        return complaint
    facts = {
        "one document": given.scores.size == 1,
        "equal labels": np.unique(given.labels).size == 1,
        "no relevant document": not given.labels.any(),
    }
    silent = [name for name, fact in facts.items() if fact and name in case.silent_on]
    if silent and len(given.starts) == 2 and np.abs(result.gradient).max() > 1e-12:
        return f"the gradient of a list with {silent[0]} is not zero, but {result.gradient.tolist()}"
    return None


def _extreme(case: Case) -> Iterator[Given]:
    lists = case.lists(*[case.shorter(6)] * 3)
    size = lists.scores.size
    for scores in (
        np.resize([1e3, -1e3, 0.0, 5e2, -2.0, 1e3], size),
        np.zeros(size),
        np.repeat([1.0, -1.0], size)[::2][:size],
        np.linspace(-1e3, 1e3, size),
        np.full(size, -1e6),
    ):
        yield Given(scores, lists.labels, lists.starts)


@CONTRACT.check(
    inputs=_extreme,
    means="training ends in nan",
    fix="subtract the largest score before exponentials, and use log1p, logaddexp or softplus",
)
def extreme_scores_give_finite_results(case: Case, given: Given) -> str | None:
    """Gaps of 1e3, equal scores and ties."""
    for sampler in (None, "gumbel[samples=2]"):
        if complaint := _not_finite(case.evaluate(given, sampler=sampler)):
            return complaint
    return None


def _short_and_long(case: Case) -> Iterator[Given]:
    for length in (1, 2, 3, 33, case.longest):
        yield case.lists(case.shorter(length))


@CONTRACT.check(
    inputs=_short_and_long,
    means="training ends in nan",
    fix="guard divisions by counts, or declare the specification's longest",
)
def short_and_long_lists_give_finite_results(case: Case, given: Given) -> str | None:
    """One document to the longest allowed."""
    return _not_finite(case.evaluate(given))


def _many(case: Case) -> Iterator[Given]:
    yield case.lists(*(case.shorter(length) for length in [5, 300, 1, 40, 3, 200] * 3))


@CONTRACT.check(
    inputs=_many,
    means="runs cannot be repeated",
    fix="keep nothing between lists: no global arrays, no random state but the key",
)
def threads_do_not_change_results(case: Case, given: Given) -> str | None:
    """Bit for bit, with and without noise."""
    for sampler in (None, "gumbel[samples=2]"):
        results = []
        for number in (1, 3):
            with use_threads(number):
                results.append(case.evaluate(given, sampler=sampler, seed=9))
        if any((one != other).any() for one, other in zip(*results, strict=True)):
            return "1 and 3 threads differ"
    return None


@CONTRACT.check(
    inputs=_lists(12, 5),
    means="precision is lost before the end",
    fix="compute in float64; the framework rounds what it hands over",
)
def single_precision_scores_are_accepted(case: Case, given: Given) -> str | None:
    """float32 scores and outputs, as boosting libraries and networks hand them over."""
    single = given.scores.astype(np.float32)
    bound = case.loss.on(given.labels, given.starts)
    here, there = bound(single.astype(np.float64)), bound(single, dtype=np.float32)
    if there.gradient.dtype != np.float32:
        return f"float32 was asked for, the gradient is {there.gradient.dtype}"
    return _same(here, there, 1e-6)


@CONTRACT.check(
    inputs=_lists(7, 2, 11),
    means="mini-batches train on something else than all lists do",
    fix="use the list that is handed over only",
)
def lists_do_not_see_each_other(case: Case, given: Given) -> str | None:
    """Each list alone gives what it gives among others."""
    bound = case.loss.on(given.labels, given.starts, seed=4)
    together = bound(given.scores, iteration=1)
    for one in range(len(given.starts) - 1):
        part = slice(given.starts[one], given.starts[one + 1])
        alone = bound(given.scores[part], lists=[one], iteration=1)
        expected = Evaluation(together.value[one : one + 1], together.gradient[part], together.curvature[part])
        if complaint := _same(expected, alone, 1e-12):
            return f"list {one} alone and among others: {complaint}"
    return None


@CONTRACT.check(
    inputs=_lists(7, 4),
    means="weights are not honoured",
    fix="fill gradient and curvature and nothing else; the framework multiplies by the weights",
)
def weights_multiply_the_result(case: Case, given: Given) -> str | None:
    """One weight a list scales its value, gradient and curvature; one a document scales the derivatives."""
    plain = case.evaluate(given)
    weights = np.resize([2.0, 0.5], len(given.starts) - 1)
    spread = np.repeat(weights, np.diff(given.starts))
    expected = Evaluation(plain.value * weights, plain.gradient * spread, plain.curvature * spread)
    complaint = _same(expected, case.evaluate(given, weights=weights), 1e-12)
    if complaint or weights.size == spread.size:
        return complaint
    return _same(expected._replace(value=plain.value), case.evaluate(given, weights=spread), 1e-12)


@CONTRACT.check(
    inputs=_lists(9, 6),
    means="runs cannot be repeated",
    fix="draw from rankplug.compiled.noise.uniform(key, document) only",
)
def noise_is_repeated_by_seed_and_iteration(case: Case, given: Given) -> str | None:
    """The same numbers give the same noise, also after a round trip through pickle."""
    bound = case.loss.on(given.labels, given.starts, sampler="gumbel[samples=2]", seed=7)
    copy = pickle.loads(pickle.dumps(bound))
    if complaint := _same(bound(given.scores, iteration=3), copy(given.scores, iteration=3), 0.0):
        return complaint
    gradient = bound(given.scores, iteration=3).gradient
    if given.scores.size > 10 and (gradient == bound(given.scores, iteration=4).gradient).all():
        return "noise is the same at iterations 3 and 4, and must be drawn anew"
    return None


CHECKS = tuple(CONTRACT.checks)


def _differences(value: Callable[[Floats], float], scores: Floats, step: float = 1e-6) -> Floats:
    expected = np.empty_like(scores)
    for document in range(scores.size):
        moved = scores.copy()
        moved[document] += step
        above = value(moved)
        moved[document] -= 2 * step
        expected[document] = (above - value(moved)) / (2 * step)
    return expected


def _compare(case: Case, what: str, given: Floats, expected: Floats) -> str | None:
    if np.abs(given - expected).max() <= case.tolerance * max(1.0, np.abs(expected).max()):
        return None
    return f"{what} is {_shown(given)}, finite differences give {_shown(expected)}"


def _same(here: Evaluation, there: Evaluation, tolerance: float) -> str | None:
    for name, one, other in zip(Evaluation._fields, here, there, strict=True):
        if not np.abs(one - other).max() <= tolerance * max(1.0, np.abs(one).max()):
            return f"the {name} differs, {_shown(one)} and {_shown(other)}"
    return None


def _not_finite(result: Evaluation) -> str | None:
    for name, array in zip(Evaluation._fields, result, strict=True):
        if not np.isfinite(array).all():
            return f"the {name} is not finite, {_shown(array)}"
    return None


def _shown(array: Any) -> str:
    numbers = [float(f"{value:.6g}") for value in array[:12]]
    return f"[{', '.join(map(str, numbers))}{', ...' if len(array) > 12 else ''}]"
