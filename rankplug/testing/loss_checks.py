"""Contract of losses; checks run on their own as in ``for check in CHECKS: check(Case("my_loss"))``."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import Field

from rankplug.compiled import log, uniform
from rankplug.errors import did_you_mean
from rankplug.losses import Evaluation, ListLoss, Loss, PaddedLoss, loss, padding_filled
from rankplug.registry import Parameters, Reference, SamplerSpecification
from rankplug.samplers import Sampler, list_sampler
from rankplug.system import use_threads
from rankplug.testing._checks import CheckInput, Contract, Floats, NotApplicableError, described


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
        """Return the length, or that of the longest list the loss can take."""
        return min(length, self.loss.specification.longest or length)

    def labels(self, documents: int, generator: np.random.Generator) -> Floats:
        """Return labels of which at least two differ, if there are two documents."""
        labels = generator.integers(0, self.highest_label + 1, documents).astype(float)
        if documents > 1:
            labels[0], labels[1] = self.highest_label, 0.0
        return labels

    def lists(self, *lengths: int) -> CheckInput:
        """Make lists of some lengths with scores that differ."""
        generator = np.random.default_rng(self.seed)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        labels = np.concatenate([self.labels(length, generator) for length in lengths])
        return CheckInput(generator.normal(size=int(starts[-1])), labels, starts)

    def evaluate(self, given: CheckInput, **options: Any) -> Evaluation:
        return self.loss.evaluate(given.scores, given.labels, given.starts, **options)


CONTRACT = Contract("loss", Case, "rp.loss({name!r}).evaluate(scores, labels, starts)")


def lists_of(*lengths: int) -> Callable[[Case], Iterator[CheckInput]]:
    """Make inputs of lists of some lengths, shorter where the loss says so."""

    def inputs(case: Case) -> Iterator[CheckInput]:
        yield case.lists(*(case.shorter(length) for length in lengths))

    return inputs


def same(here: Evaluation, there: Evaluation, tolerance: float) -> str | None:
    """Return the complaint that two results differ, or are not finite."""
    if complaint := not_finite(here) or not_finite(there):
        return complaint
    for name, first, other in zip(Evaluation._fields, here, there, strict=True):
        if not np.abs(first - other).max() <= tolerance * max(1.0, np.abs(first).max()):
            return f"the {name} differs, {shown(first)} and {shown(other)}"
    return None


def not_finite(result: Evaluation) -> str | None:
    """Return the complaint that a result is not finite."""
    for name, array in zip(Evaluation._fields, result, strict=True):
        if not np.isfinite(array).all():
            return f"the {name} is not finite, {shown(array)}"
    return None


def shown(array: Any) -> str:
    """Format numbers as a complaint shows them."""
    numbers = [float(f"{value:.6g}") for value in array[:12]]
    return f"[{', '.join(map(str, numbers))}{', ...' if len(array) > 12 else ''}]"


@list_sampler
def logistic(scores, key, perturbed, temperature):  # type: ignore[no-untyped-def]
    """Compute ``(f_i + log(U_i / (1 - U_i)) / 2) / temperature``; return the derivative, one over the temperature."""
    for i in range(scores.size):
        draw = uniform(key, i)
        perturbed[i] = (scores[i] + 0.5 * log(draw / (1.0 - draw))) / temperature
    return 1.0 / temperature


class NoiseParameters(Parameters):
    """Parameters of the contracts' noise."""

    samples: int = Field(2, ge=1, description="draws of each list")
    temperature: float = Field(1.25, gt=0, description="divisor of the perturbed scores")


class Noise(Sampler):
    """Logistic noise that no plugin offers.

    Args:
        samples: number of draws.
    """

    def __init__(self, samples: int = 2) -> None:
        self.reference = Reference("noise_of_contracts", {"samples": samples})
        self.parameters = NoiseParameters.model_validate({"samples": samples})
        self.specification = SamplerSpecification(
            name="noise_of_contracts", summary="logistic noise", implementation=logistic, parameters=NoiseParameters
        )
        self.function = logistic

    def __reduce__(self) -> tuple[Any, ...]:
        return Noise, (self.samples,)


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
    fields = type(case.loss.parameters).model_fields
    for name in function.wants:
        if not hasattr(case.loss.parameters, name):
            known = did_you_mean(name, {*function.supplied, *fields})
            return f"the argument {name} is neither supplied nor a parameter: {known}"
    return None


def _list_loss(case: Case) -> ListLoss:
    function = case.loss.specification.load()
    if not isinstance(function, ListLoss):
        raise NotApplicableError("it is a PyTorch expression, not a function of one list")
    return function


def _small(case: Case) -> Iterator[CheckInput]:
    yield from (case.lists(case.shorter(length)) for length in (1, 5))


@CONTRACT.check(
    stage=LOADED,
    inputs=_small,
    means="compiled code reads and writes memory outside of the list, so results are random or the process crashes",
    fix="index documents by range(scores.size)",
)
def indices_stay_inside_the_list(case: Case, given: CheckInput) -> str | None:
    """Run the function of one list as Python, which checks every index."""
    function = _list_loss(case)
    parameters = case.loss.parameters
    if not all(hasattr(parameters, name) for name in function.wants):
        raise NotApplicableError("its arguments are not known")
    constants, _ = function.prepared_constants(given.labels, given.starts, parameters, 0)
    size = given.scores.size
    values = {
        "scores": given.scores.copy(), "labels": given.labels.copy(), "gradient": np.zeros(size),
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
def ordinary_lists_give_finite_results(case: Case, given: CheckInput) -> str | None:
    """Evaluate different scores and several labels without noise."""
    return not_finite(case.evaluate(given))


def _irrelevant(case: Case) -> Iterator[CheckInput]:
    yield CheckInput.of(case.lists(case.shorter(5)).scores)


@CONTRACT.check(
    stage=FINITE,
    inputs=_irrelevant,
    means="one query without a relevant document ends training in nan",
    fix="guard what divides by sums of labels or gains, and logarithms of them",
)
def labels_of_zero_give_finite_results(case: Case, given: CheckInput) -> str | None:
    """Evaluate a list without a relevant document, of which most data sets have some."""
    return not_finite(case.evaluate(given))


def _tied(case: Case) -> Iterator[CheckInput]:
    lists = case.lists(*[case.shorter(6)] * 3)
    for pattern in ([0.0], [1.0, 1.0, -1.0], [-1e6]):
        yield CheckInput.of(np.resize(pattern, lists.scores.size), lists.labels, lists.starts)


@CONTRACT.check(
    stage=FINITE,
    inputs=_tied,
    means="training ends in nan at its first step, as boosting and many networks start with equal scores",
    fix="guard what divides by differences or spreads of scores, and square roots and logarithms of them",
)
def equal_scores_give_finite_results(case: Case, given: CheckInput) -> str | None:
    """Evaluate lists whose scores are equal, all or some."""
    return not_finite(case.evaluate(given))


def _extreme(case: Case) -> Iterator[CheckInput]:
    lists = case.lists(*[case.shorter(6)] * 3)
    size = lists.scores.size
    for scores in (
        np.resize([1e3, -1e3, 0.0, 5e2, -2.0, 999.0], size) + 0.01 * np.arange(size),
        np.linspace(-1e3, 1e3, size),
        -1e6 + 0.01 * np.arange(size),
    ):
        yield CheckInput.of(scores, lists.labels, lists.starts)


@CONTRACT.check(
    stage=EXTREME,
    inputs=_extreme,
    means="training ends in nan",
    fix="subtract the largest score before exponentials, and use log1p, logaddexp or softplus",
)
def extreme_scores_give_finite_results(case: Case, given: CheckInput) -> str | None:
    """Evaluate gaps of 1e3 and more, also through a sampler."""
    for sampler in (None, Noise()):
        if complaint := not_finite(case.evaluate(given, sampler=sampler)):
            return complaint
    return None


def _short_and_long(case: Case) -> Iterator[CheckInput]:
    for length in (1, 2, 3, 33, case.longest):
        yield case.lists(case.shorter(length))


@CONTRACT.check(
    stage=EXTREME,
    inputs=_short_and_long,
    means="training ends in nan",
    fix="guard divisions by counts, or declare the specification's longest",
)
def short_and_long_lists_give_finite_results(case: Case, given: CheckInput) -> str | None:
    """Evaluate lists from one document to the longest allowed."""
    return not_finite(case.evaluate(given))


def _in_one_tensor(case: Case) -> Iterator[CheckInput]:
    yield case.lists(*(case.shorter(length) for length in (7, 8, 6)))


@CONTRACT.check(
    stage=PADDED,
    inputs=_in_one_tensor,
    means="lists are trained on documents that do not exist, wherever they share a tensor with a longer one",
    fix="use mask: multiply by it before every sum, divide by mask.sum(1) in place of mean, masked_fill before softmax",
)
def padding_is_never_seen(case: Case, given: CheckInput) -> str | None:
    """Evaluate lists that share a tensor, the shorter ones padded with documents that look like the best."""
    if not isinstance(case.loss.specification.load(), PaddedLoss):
        raise NotApplicableError("compiled losses see no padding")
    plain = case.evaluate(given, seed=4)
    with padding_filled(score=float(given.scores.max()) + 1.0, label=float(given.labels.max())):
        filled = case.evaluate(given, seed=4)
    complaint = same(plain, filled, 1e-9)
    return f"with other numbers at padding, where mask is False, {complaint}" if complaint else None


NOISE = Noise(samples=3)
SHORT, SLOW, GROWTH = 150, 0.02, 35.0
"""Documents of the shorter list, seconds that a list of four times its length may take, and the growth that fails."""


@CONTRACT.check(
    inputs=lists_of(7, 5),
    means="training follows a wrong direction",
    fix="derive again what the function returns, or declare gradient='lambda' if the gradient is defined directly",
)
def gradient_is_the_derivative_of_the_value(case: Case, given: CheckInput, sampler: Noise | None = None) -> str | None:
    """Compare with central differences of the value, with the noise held fixed."""
    if case.loss.specification.gradient != "exact":
        raise NotApplicableError("the gradient is defined directly")
    bound = case.loss.on(given.labels, given.starts, sampler=sampler, seed=3)
    gradient = bound(given.scores, iteration=2).gradient
    expected = _differences(lambda moved: bound(moved, iteration=2).value.sum(), given.scores)
    return _compare(case, "the gradient", gradient, expected)


@CONTRACT.check(
    inputs=lists_of(7, 5),
    means="training under noise follows a wrong direction",
    fix="declare shift_invariant truthfully: through a sampler the loss sees log-softmax scores",
)
def gradient_holds_under_noise(case: Case, given: CheckInput) -> str | None:
    """Check the gradient through a sampler, with its chain rule."""
    claim = gradient_is_the_derivative_of_the_value.claim
    if claim(case, given) is not None:
        raise NotApplicableError("the gradient is wrong without noise too")
    return claim(case, given, NOISE)


@CONTRACT.check(
    inputs=lists_of(6, 4),
    means="boosting takes steps of a wrong length",
    fix="fill in the second derivative, or declare curvature='surrogate'",
)
def exact_curvature_is_the_second_derivative(case: Case, given: CheckInput) -> str | None:
    """Compare with central differences of the gradient, document by document."""
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
    inputs=lists_of(9, 1, 4),
    means="boosting divides by it and steps uphill there",
    fix="take the absolute value or a positive bound, and declare curvature='surrogate'",
)
def curvature_is_never_negative(case: Case, given: CheckInput) -> str | None:
    """Check the sign of the curvature, by which boosting divides."""
    curvature = case.evaluate(given).curvature
    return f"the curvature is negative, {curvature.min():g}" if curvature.min() < 0 else None


@CONTRACT.check(
    inputs=lists_of(8, 3),
    means="noise on the scores is not passed on rightly, as the framework relies on it",
    fix="declare shift_invariant=False",
)
def adding_a_constant_changes_nothing(case: Case, given: CheckInput) -> str | None:
    """Shift invariance, where the specification promises it."""
    if not case.loss.specification.shift_invariant:
        raise NotApplicableError("the loss is declared to depend on the scores' height")
    moved = CheckInput(given.scores + 64.0, given.labels, given.starts)
    here, there = (case.evaluate(lists, seed=1) for lists in (given, moved))
    if complaint := same(here, there, 1e-8):
        return f"adding 64 to all scores changes the loss: {complaint}"
    total = np.add.reduceat(here.gradient, given.starts[:-1])
    if np.abs(total).max() > 1e-8 * (1 + np.abs(here.gradient).max()):
        return f"the gradient of a list does not sum to zero, but to {total.tolist()}"
    return None


def _one_list(case: Case) -> Iterator[CheckInput]:
    if case.equal_labels_by_position:
        yield CheckInput(case.lists(3).scores, np.array([2.0, 1.0, 0.0]), np.array([0, 3]))
    else:
        yield case.lists(case.shorter(9))


@CONTRACT.check(
    inputs=_one_list,
    means="the loss depends on the order of the file",
    fix="treat documents of equal label alike, and do not use their positions",
)
def order_of_documents_does_not_matter(case: Case, given: CheckInput) -> str | None:
    """Check that permuting a list's documents permutes the result."""
    if case.noisy:
        raise NotApplicableError("noise is drawn by position")
    if len(given.starts) != 2:
        return None
    permutation = np.random.default_rng(5).permutation(given.scores.size)
    here = case.evaluate(given)
    there = case.evaluate(CheckInput(given.scores[permutation], given.labels[permutation], given.starts))
    back = Evaluation(there.value, *(array[np.argsort(permutation)] for array in there[1:]))
    complaint = same(here, back, 1e-9)
    return f"in the order {permutation.tolist()}, put back, {complaint}" if complaint else None


def _uninformative(case: Case) -> Iterator[CheckInput]:
    top = float(case.highest_label)
    yield CheckInput.of([0.3], [top])
    yield CheckInput.of([0.3, -1.0, 0.5], [top, top, top])
    yield CheckInput.of([0.3, -1.0, 0.5], [0.0, 0.0, 0.0])


@CONTRACT.check(
    inputs=_uninformative,
    means="lists that say nothing about order would add noise to training",
    fix="return 0 for such a list, or declare in the specification's zero_gradient where the loss is silent",
)
def uninformative_lists_give_no_gradient(case: Case, given: CheckInput) -> str | None:
    """Evaluate lists on which the loss claims to be silent: one document, equal labels, none relevant."""
    result = case.evaluate(given)
    if complaint := not_finite(result):
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


def _many(case: Case) -> Iterator[CheckInput]:
    yield case.lists(*(case.shorter(length) for length in [5, 300, 1, 40, 3, 200] * 3))


@CONTRACT.check(
    inputs=_many,
    means="runs cannot be repeated",
    fix="keep nothing between lists: no global arrays, no random state but the key",
)
def threads_do_not_change_results(case: Case, given: CheckInput) -> str | None:
    """Compare bit for bit, with and without noise."""
    for sampler in (None, Noise()):
        results = []
        for number in (1, 3):
            with use_threads(number):
                results.append(case.evaluate(given, sampler=sampler, seed=9))
        if complaint := same(results[0], results[1], 0.0):
            return f"with 1 and 3 threads {complaint}"
    return None


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
    short, long = (min(_seconds(case, given) for _ in range(3)) for given in (quarter, lists))
    if long < SLOW or long < GROWTH * short:
        return None
    return f"a list of {4 * SHORT} documents takes {long / short:.0f} times as long as one of {SHORT}"


def _seconds(case: Case, given: CheckInput) -> float:
    bound = case.loss.on(given.labels, given.starts)
    bound(given.scores)
    begin = time.thread_time()
    bound(given.scores)
    return time.thread_time() - begin


@CONTRACT.check(
    inputs=lists_of(12, 5),
    means="precision is lost before the end",
    fix="compute in float64; the framework rounds what it hands over",
)
def single_precision_scores_are_accepted(case: Case, given: CheckInput) -> str | None:
    """Evaluate float32 scores and outputs, as boosting libraries and networks hand them over."""
    single = given.scores.astype(np.float32)
    bound = case.loss.on(given.labels, given.starts)
    here, there = bound(single.astype(np.float64)), bound(single, dtype=np.float32)
    if there.gradient.dtype != np.float32:
        return f"float32 was asked for, the gradient is {there.gradient.dtype}"
    return same(here, there, 1e-6)


@CONTRACT.check(
    inputs=lists_of(7, 8, 6, 2, 11),
    means="mini-batches train on something else than all lists do",
    fix="use the list that is handed over only",
)
def lists_do_not_see_each_other(case: Case, given: CheckInput) -> str | None:
    """Check that each list alone gives what it gives among others."""
    bound = case.loss.on(given.labels, given.starts, seed=4)
    together = bound(given.scores, iteration=1)
    for query in range(len(given.starts) - 1):
        part = slice(given.starts[query], given.starts[query + 1])
        alone = bound(given.scores[part], lists=[query], iteration=1)
        expected = Evaluation(together.value[query : query + 1], together.gradient[part], together.curvature[part])
        if complaint := same(expected, alone, 1e-12):
            return f"list {query} alone and among others: {complaint}"
    return None


@CONTRACT.check(
    inputs=lists_of(7, 4),
    means="weights are not honoured",
    fix="fill gradient and curvature and nothing else; the framework multiplies by the weights",
)
def weights_multiply_the_result(case: Case, given: CheckInput) -> str | None:
    """Check that weights scale value, gradient and curvature, one a list or the same for its documents."""
    plain = case.evaluate(given)
    weights = np.resize([2.0, 0.5], len(given.starts) - 1)
    spread = np.repeat(weights, np.diff(given.starts))
    expected = Evaluation(plain.value * weights, plain.gradient * spread, plain.curvature * spread)
    return same(expected, case.evaluate(given, weights=weights), 1e-12) or same(
        expected, case.evaluate(given, weights=spread), 1e-12
    )


@CONTRACT.check(
    inputs=lists_of(9, 6),
    means="runs cannot be repeated",
    fix="draw from rankplug.compiled.uniform(key, document) only",
)
def noise_is_repeated_by_seed_and_iteration(case: Case, given: CheckInput) -> str | None:
    """Check that the same seed and iteration give the same noise, also after a round trip through pickle."""
    bound = case.loss.on(given.labels, given.starts, sampler=Noise(), seed=7)
    copy = pickle.loads(pickle.dumps(bound))
    if complaint := same(bound(given.scores, iteration=3), copy(given.scores, iteration=3), 0.0):
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
    return f"{what} is {shown(given)}, finite differences give {shown(expected)}"
