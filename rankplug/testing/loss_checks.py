"""Contract of losses; checks run on their own as in ``for check in CONTRACT.checks: check(Case("my_loss"))``."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rankplug.compiled import log, uniform
from rankplug.errors import did_you_mean
from rankplug.losses import Evaluation, ListLoss, Loss, PaddedLoss, loss, padding_filled
from rankplug.registry import Parameters, Reference
from rankplug.samplers import Sampler, list_sampler
from rankplug.system import use_threads
from rankplug.testing import _checks
from rankplug.testing._checks import (
    CheckInput,
    Contract,
    Floats,
    NotApplicableError,
    PluginContract,
    described,
    lists_of,
)


@dataclass(frozen=True)
class Case(_checks.Case):
    """A loss under test.

    Args:
        tolerance: tolerance of finite differences, relative to the largest derivative.
        longest: length of the longest list of the size check.
    """

    tolerance: float = 1e-5
    longest: int = 10_000

    @cached_property
    def loss(self) -> Loss:
        return loss(self.name)

    @property
    def largest_label(self) -> int:
        declared = self.loss.specification
        return declared.largest_label or (1 if "binary labels" in declared.needs else 4)

    def labels(self, documents: int, generator: np.random.Generator) -> Floats:
        """Return labels of which at least two differ, if there are two documents."""
        labels = generator.integers(0, self.largest_label + 1, documents).astype(float)
        if documents > 1:
            labels[0], labels[1] = self.largest_label, 0.0
        return labels

    def lists(self, *lengths: int) -> CheckInput:
        """Make lists of some lengths, or of the greatest length that the loss takes."""
        longest = self.loss.specification.longest
        return super().lists(*(min(length, longest or length) for length in lengths))

    def evaluate(self, lists: CheckInput, **options: Any) -> Evaluation:
        return self.loss.evaluate(lists.scores, lists.labels, lists.starts, **options)


CONTRACT = Contract(Case, "rp.loss({name!r}).evaluate(scores, labels, starts)")


class LossContract(PluginContract):
    """The contract of a loss.

    The class attributes ``tolerance`` and ``longest`` set the fields of :class:`~rankplug.testing.loss_checks.Case`.
    """

    contract, kind = CONTRACT, "loss"
    loss: ClassVar[str]


def _difference(here: Evaluation, there: Evaluation, tolerance: float) -> str | None:
    """Return the complaint that two results differ, or are not finite."""
    if complaint := _not_finite(here) or _not_finite(there):
        return complaint
    for name, first, other in zip(Evaluation._fields, here, there, strict=True):
        if not np.abs(first - other).max() <= tolerance * max(1.0, np.abs(first).max()):
            return f"the {name} differs, {_shown(first)} and {_shown(other)}"
    return None


def _not_finite(result: Evaluation) -> str | None:
    """Return the complaint that a result is not finite."""
    for name, array in zip(Evaluation._fields, result, strict=True):
        if not np.isfinite(array).all():
            return f"the {name} is not finite, {_shown(array)}"
    return None


def _shown(array: Any) -> str:
    numbers = [float(f"{value:.6g}") for value in array[:12]]
    return f"[{', '.join(map(str, numbers))}{', ...' if len(array) > 12 else ''}]"


@list_sampler
def logistic(scores, key, perturbed):  # type: ignore[no-untyped-def]
    """Compute ``0.8 (f_i + log(U_i / (1 - U_i)) / 2)``; return the derivative."""
    for i in range(scores.size):
        draw = uniform(key, i)
        perturbed[i] = 0.8 * (scores[i] + 0.5 * log(draw / (1.0 - draw)))
    return 0.8


class Noise(Sampler):
    """Logistic noise that no plugin offers."""

    samples = 3

    def __init__(self) -> None:
        self.reference, self.parameters, self.function = Reference("noise_of_contracts"), Parameters(), logistic

    def __reduce__(self) -> tuple[Any, ...]:
        return Noise, ()


LOADED, COMPUTED, FINITE, EXTREME, PADDED = range(5)
"""Stages on which all others rest: where a loss is nan or sees padding, every other complaint would mislead."""


@CONTRACT.check(
    stage=LOADED,
    means="it fails as soon as it is used",
    fix="rename the argument, or add a field of its name to the parameters",
)
def its_arguments_are_known(case: Case) -> str | None:
    """Compare the names of the arguments with what the framework supplies and with the parameters."""
    function = _list_loss(case)
    for name in function.wants:
        if not hasattr(case.loss.parameters, name):
            known = did_you_mean(name, {*function.supplied, *type(case.loss.parameters).model_fields})
            return f"the argument {name} is neither supplied nor a parameter: {known}"
    return None


def _list_loss(case: Case) -> ListLoss:
    function = case.loss.specification.load()
    if not isinstance(function, ListLoss):
        raise NotApplicableError("it is a PyTorch expression, not a function of one list")
    return function


@CONTRACT.check(
    stage=LOADED,
    inputs=lambda case: map(case.lists, (1, 5)),
    means="compiled code reads and writes memory outside of the list, so results are random or the process crashes",
    fix="index documents by range(scores.size)",
)
def indices_stay_inside_the_list(case: Case, lists: CheckInput) -> str | None:
    """Run the function of one list as Python, which checks every index."""
    function = _list_loss(case)
    parameters = case.loss.parameters
    if not all(hasattr(parameters, name) for name in function.wants):
        raise NotApplicableError("its arguments are not known")
    constants, _ = function.prepared_constants(lists.labels, lists.starts, parameters, 0)
    size = lists.scores.size
    values = {
        "scores": lists.scores.copy(), "labels": lists.labels.copy(), "gradient": np.zeros(size),
        "curvature": np.ones(size), "constants": constants, "order": np.arange(size, dtype=np.int32),
        "key": np.uint64(1), "list_key": np.uint64(2), "seed": 0, "query": 0, "iteration": 0, "newton": False,
        "valued": True, **dict(zip(function.wants, function.numbers(parameters), strict=True)),
    }  # fmt: skip
    try:
        function.function(*(values[name] for name in function.arguments))
    except IndexError as error:
        return described(error)
    except Exception:
        return None  # the compiled function is checked next
    return None


@CONTRACT.check(
    stage=COMPUTED,
    means="it fails as soon as it is used",
    fix="mend the line that is named; what numba compiles is a part of Python and NumPy, see its documentation",
)
def it_can_be_computed(case: Case) -> str | None:
    """Evaluate one list of one document, which needs the loss compiled."""
    case.evaluate(CheckInput.of([0.5], [0.0]))
    return None


@CONTRACT.check(
    stage=FINITE,
    inputs=lists_of(7, 5),
    means="training ends in nan",
    fix="print what the function computes on the input that is shown",
)
def ordinary_lists_give_finite_results(case: Case, lists: CheckInput) -> str | None:
    """Evaluate different scores and several labels without noise."""
    return _not_finite(case.evaluate(lists))


@CONTRACT.check(
    stage=FINITE,
    inputs=lambda case: [CheckInput.of(case.lists(5).scores)],
    means="one query without a relevant document ends training in nan",
    fix="guard what divides by sums of labels or gains, and logarithms of them",
)
def labels_of_zero_give_finite_results(case: Case, lists: CheckInput) -> str | None:
    """Evaluate a list without a relevant document, of which most data sets have some."""
    return _not_finite(case.evaluate(lists))


def _tied(case: Case) -> Iterator[CheckInput]:
    lists = case.lists(6, 6, 6)
    for pattern in ([0.0], [1.0, 1.0, -1.0], [-1e6]):
        yield replace(lists, scores=np.resize(pattern, lists.scores.size))


@CONTRACT.check(
    stage=FINITE,
    inputs=_tied,
    means="training ends in nan at its first step, as boosting and many networks start with equal scores",
    fix="guard what divides by differences or spreads of scores, and square roots and logarithms of them",
)
def equal_scores_give_finite_results(case: Case, lists: CheckInput) -> str | None:
    """Evaluate lists whose scores are equal, all or some."""
    return _not_finite(case.evaluate(lists))


def _extreme(case: Case) -> Iterator[CheckInput]:
    lists = case.lists(6, 6, 6)
    size = lists.scores.size
    steps = 0.01 * np.arange(size)
    far_apart = np.resize([1e3, -1e3, 0.0, 5e2, -2.0, 999.0], size) + steps
    for scores in (far_apart, np.linspace(-1e3, 1e3, size), np.full(size, -1e6) + steps):
        yield replace(lists, scores=np.asarray(scores, np.float64))


@CONTRACT.check(
    stage=EXTREME,
    inputs=_extreme,
    means="training ends in nan",
    fix="subtract the largest score before exponentials, and use log1p, logaddexp or softplus",
)
def extreme_scores_give_finite_results(case: Case, lists: CheckInput) -> str | None:
    """Evaluate gaps of 1e3 and more, also through a sampler."""
    return _not_finite(case.evaluate(lists)) or _not_finite(case.evaluate(lists, sampler=Noise()))


@CONTRACT.check(
    stage=EXTREME,
    inputs=lambda case: map(case.lists, (1, 2, 3, 33, case.longest)),
    means="training ends in nan",
    fix="guard divisions by counts, or declare the specification's longest",
)
def short_and_long_lists_give_finite_results(case: Case, lists: CheckInput) -> str | None:
    """Evaluate lists from one document to the longest allowed."""
    return _not_finite(case.evaluate(lists))


@CONTRACT.check(
    stage=PADDED,
    inputs=lists_of(7, 8, 6),
    means="lists are trained on documents that do not exist, wherever they share a tensor with a longer one",
    fix="use mask: multiply by it before every sum, divide by mask.sum(1) in place of mean, masked_fill before softmax",
)
def padding_is_never_seen(case: Case, lists: CheckInput) -> str | None:
    """Evaluate lists that share a tensor, the shorter ones padded with documents that look like the best."""
    if not isinstance(case.loss.specification.load(), PaddedLoss):
        raise NotApplicableError("compiled losses see no padding")
    plain = case.evaluate(lists, seed=4)
    with padding_filled(score=float(lists.scores.max()) + 1.0, label=float(lists.labels.max())):
        filled = case.evaluate(lists, seed=4)
    complaint = _difference(plain, filled, 1e-9)
    return f"with other numbers at padding, where mask is False, {complaint}" if complaint else None


def _central_differences(function: Callable[[Floats], Any], scores: Floats, step: float) -> Floats:
    """Return the derivative of a function to each score, one row a score."""
    moves = step * np.eye(scores.size)
    return np.array([(function(scores + move) - function(scores - move)) / (2 * step) for move in moves])


def _derivative_complaint(case: Case, what: str, derivative: Floats, expected: Floats) -> str | None:
    if np.abs(derivative - expected).max() <= case.tolerance * max(1.0, np.abs(expected).max()):
        return None
    return f"{what} is {_shown(derivative)}, finite differences give {_shown(expected)}"


def _wrong_gradient(case: Case, lists: CheckInput, sampler: Noise | None = None) -> str | None:
    if case.loss.specification.gradient != "exact":
        raise NotApplicableError("the gradient is defined directly")
    bound = case.loss.on(lists.labels, lists.starts, sampler=sampler, seed=3)
    expected = _central_differences(lambda scores: bound(scores, iteration=2).value.sum(), lists.scores, 1e-6)
    return _derivative_complaint(case, "the gradient", bound(lists.scores, iteration=2).gradient, expected)


@CONTRACT.check(
    inputs=lists_of(7, 5),
    means="training follows a wrong direction",
    fix="derive again what the function returns, or declare gradient='lambda' if the gradient is defined directly",
)
def gradient_is_the_derivative_of_the_value(case: Case, lists: CheckInput) -> str | None:
    """Compare with central differences of the value."""
    return _wrong_gradient(case, lists)


@CONTRACT.check(
    inputs=lists_of(7, 5),
    means="training under noise follows a wrong direction",
    fix="declare shift_invariant truthfully: through a sampler the loss sees log-softmax scores",
)
def gradient_holds_under_noise(case: Case, lists: CheckInput) -> str | None:
    """Check the gradient through a sampler, with its chain rule and the noise held fixed."""
    if _wrong_gradient(case, lists) is not None:
        raise NotApplicableError("the gradient is wrong without noise too")
    return _wrong_gradient(case, lists, Noise())


@CONTRACT.check(
    inputs=lists_of(6, 4),
    means="boosting takes steps of a wrong length",
    fix="fill in the second derivative, or declare curvature='surrogate'",
)
def exact_curvature_is_the_second_derivative(case: Case, lists: CheckInput) -> str | None:
    """Compare with central differences of the gradient, document by document."""
    if case.loss.specification.curvature != "exact" or case.loss.specification.gradient != "exact":
        raise NotApplicableError("the curvature is not declared exact")
    bound = case.loss.on(lists.labels, lists.starts, seed=3)
    expected = _central_differences(lambda scores: bound(scores).gradient, lists.scores, 1e-5)
    return _derivative_complaint(case, "the curvature", bound(lists.scores).curvature, expected.diagonal())


@CONTRACT.check(
    inputs=lists_of(9, 1, 4),
    means="boosting divides by it and steps uphill there",
    fix="take the absolute value or a positive bound, and declare curvature='surrogate'",
)
def curvature_is_never_negative(case: Case, lists: CheckInput) -> str | None:
    """Check the sign of the curvature, by which boosting divides."""
    curvature = case.evaluate(lists).curvature
    return f"the curvature is negative, {curvature.min():g}" if curvature.min() < 0 else None


@CONTRACT.check(
    inputs=lists_of(8, 3),
    means="noise on the scores is not passed on rightly, as the framework relies on it",
    fix="declare shift_invariant=False",
)
def adding_a_constant_changes_nothing(case: Case, lists: CheckInput) -> str | None:
    """Shift invariance, where the specification promises it."""
    if not case.loss.specification.shift_invariant:
        raise NotApplicableError("the loss is declared to depend on the scores' height")
    here = case.evaluate(lists, seed=1)
    if complaint := _difference(here, case.evaluate(replace(lists, scores=lists.scores + 64.0), seed=1), 1e-8):
        return f"adding 64 to all scores changes the loss: {complaint}"
    total = np.add.reduceat(here.gradient, lists.starts[:-1])
    if np.abs(total).max() > 1e-8 * (1 + np.abs(here.gradient).max()):
        return f"the gradient of a list does not sum to zero, but to {total.tolist()}"
    return None


@CONTRACT.check(
    inputs=lists_of(9),
    means="the loss depends on the order of the file",
    fix="treat documents of equal label alike, and do not use their positions",
)
def order_of_documents_does_not_matter(case: Case, lists: CheckInput) -> str | None:
    """Check that permuting a list's documents permutes the result."""
    if {"noise", "sampled rankings"} & case.loss.specification.needs:
        raise NotApplicableError("noise is drawn by position")
    permutation = np.random.default_rng(5).permutation(lists.scores.size)
    there = case.evaluate(CheckInput(lists.scores[permutation], lists.labels[permutation], lists.starts))
    back = Evaluation(there.value, *(array[np.argsort(permutation)] for array in there[1:]))
    complaint = _difference(case.evaluate(lists), back, 1e-9)
    return f"in the order {permutation.tolist()}, put back, {complaint}" if complaint else None


def _uninformative(case: Case) -> Iterator[CheckInput]:
    top = float(case.largest_label)
    yield CheckInput.of([0.3], [top])
    yield CheckInput.of([0.3, -1.0, 0.5], [top, top, top])
    yield CheckInput.of([0.3, -1.0, 0.5], [0.0, 0.0, 0.0])


@CONTRACT.check(
    inputs=_uninformative,
    means="lists that say nothing about order would add noise to training",
    fix="return 0 for such a list, or declare in the specification's zero_gradient where the loss is silent",
)
def uninformative_lists_give_no_gradient(case: Case, lists: CheckInput) -> str | None:
    """Evaluate lists on which the loss claims to be silent: one document, equal labels, none relevant."""
    result = case.evaluate(lists)
    if complaint := _not_finite(result):
        return complaint
    facts = {
        "one document": lists.scores.size == 1,
        "equal labels": np.unique(lists.labels).size == 1,
        "no relevant document": not lists.labels.any(),
    }
    silent = [name for name, fact in facts.items() if fact and name in case.loss.specification.zero_gradient]
    if silent and np.abs(result.gradient).max() > 1e-12:
        return f"the gradient of a list with {silent[0]} is not zero, but {result.gradient.tolist()}"
    return None


@CONTRACT.check(
    inputs=lists_of(*[5, 300, 1, 40, 3, 200] * 3),
    means="runs cannot be repeated",
    fix="keep nothing between lists: no global arrays, no random state but the key",
)
def threads_do_not_change_results(case: Case, lists: CheckInput) -> str | None:
    """Compare bit for bit, with and without noise."""
    for sampler in (None, Noise()):
        results = []
        for number in (1, 3):
            with use_threads(number):
                results.append(case.evaluate(lists, sampler=sampler, seed=9))
        if complaint := _difference(results[0], results[1], 0.0):
            return f"with 1 and 3 threads {complaint}"
    return None


SHORT, SLOW, GROWTH = 150, 0.02, 35.0
"""Documents of the shorter list, seconds that a list of four times its length may take, and the growth that fails."""


@CONTRACT.check(
    means="a query with many documents takes longer than all others together",
    fix="visit each pair of documents once at most, or declare the specification's longest",
)
def time_grows_no_faster_than_pairs(case: Case) -> str | None:
    """Compare the time of a list with that of its first quarter: at most the square of the length, with room."""
    if case.loss.specification.longest is not None:
        raise NotApplicableError(f"the loss takes lists of at most {case.loss.specification.longest} documents")
    lists = case.lists(4 * SHORT)
    quarter = CheckInput.of(lists.scores[:SHORT], lists.labels[:SHORT])
    short, long = (min(_seconds(case, lists) for _ in range(3)) for lists in (quarter, lists))
    if long < SLOW or long < GROWTH * short:
        return None
    return f"a list of {4 * SHORT} documents takes {long / short:.0f} times as long as one of {SHORT}"


def _seconds(case: Case, lists: CheckInput) -> float:
    bound = case.loss.on(lists.labels, lists.starts)
    bound(lists.scores)
    begin = time.thread_time()
    bound(lists.scores)
    return time.thread_time() - begin


@CONTRACT.check(
    inputs=lists_of(12, 5),
    means="precision is lost before the end",
    fix="compute in float64; the framework rounds what it hands over",
)
def single_precision_scores_are_accepted(case: Case, lists: CheckInput) -> str | None:
    """Evaluate float32 scores and outputs, as boosting libraries and networks hand them over."""
    single = lists.scores.astype(np.float32)
    bound = case.loss.on(lists.labels, lists.starts)
    here, there = bound(single.astype(np.float64)), bound(single, dtype=np.float32)
    if there.gradient.dtype != np.float32:
        return f"float32 was asked for, the gradient is {there.gradient.dtype}"
    return _difference(here, there, 1e-6)


@CONTRACT.check(
    inputs=lists_of(7, 8, 6, 2, 11),
    means="mini-batches train on something else than all lists do",
    fix="use the list that is handed over only",
)
def lists_do_not_see_each_other(case: Case, lists: CheckInput) -> str | None:
    """Check that each list alone gives what it gives among others."""
    bound = case.loss.on(lists.labels, lists.starts, seed=4)
    together = bound(lists.scores, iteration=1)
    for query, part in enumerate(lists.slices()):
        alone = bound(lists.scores[part], lists=[query], iteration=1)
        expected = Evaluation(together.value[query : query + 1], together.gradient[part], together.curvature[part])
        if complaint := _difference(expected, alone, 1e-12):
            return f"list {query} alone and among others: {complaint}"
    return None


@CONTRACT.check(
    inputs=lists_of(7, 4),
    means="weights are not honoured",
    fix="fill gradient and curvature and nothing else; the framework multiplies by the weights",
)
def weights_multiply_the_result(case: Case, lists: CheckInput) -> str | None:
    """Check that weights scale value, gradient and curvature, one a list or the same for its documents."""
    plain = case.evaluate(lists)
    weights = np.resize([2.0, 0.5], len(lists.starts) - 1)
    spread = np.repeat(weights, np.diff(lists.starts))
    expected = Evaluation(plain.value * weights, plain.gradient * spread, plain.curvature * spread)
    by_list, by_document = (case.evaluate(lists, weights=each) for each in (weights, spread))
    return _difference(expected, by_list, 1e-12) or _difference(expected, by_document, 1e-12)


@CONTRACT.check(
    inputs=lists_of(9, 6),
    means="runs cannot be repeated",
    fix="draw from rankplug.compiled.uniform(key, document) only",
)
def noise_is_repeated_by_seed_and_iteration(case: Case, lists: CheckInput) -> str | None:
    """Check that the same seed and iteration give the same noise, also after a round trip through pickle."""
    bound = case.loss.on(lists.labels, lists.starts, sampler=Noise(), seed=7)
    copy = pickle.loads(pickle.dumps(bound))
    third, fourth = (bound(lists.scores, iteration=iteration) for iteration in (3, 4))
    if complaint := _difference(third, copy(lists.scores, iteration=3), 0.0):
        return complaint
    if lists.scores.size > 10 and (third.gradient == fourth.gradient).all():
        return "noise is the same at iterations 3 and 4, and must be drawn anew"
    return None
