"""Contract of losses; checks run on their own as in ``for check in CHECKS: check(Case("my_loss"))``."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator

import numpy as np

from rankplug.losses import Evaluation
from rankplug.system import use_threads
from rankplug.testing import loss_basics  # noqa: F401, its checks come first
from rankplug.testing.check_input import CheckInput, Floats
from rankplug.testing.checks import NotApplicableError
from rankplug.testing.loss_case import CONTRACT as CONTRACT
from rankplug.testing.loss_case import Case as Case
from rankplug.testing.loss_case import Noise, lists_of, not_finite, same, shown

NOISE = Noise(samples=3)


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
    complaint: str | None = gradient_is_the_derivative_of_the_value.claim(case, given, NOISE)
    return complaint


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
    """Check that one weight a list scales value, gradient and curvature, and one a document the derivatives."""
    plain = case.evaluate(given)
    weights = np.resize([2.0, 0.5], len(given.starts) - 1)
    spread = np.repeat(weights, np.diff(given.starts))
    expected = Evaluation(plain.value * weights, plain.gradient * spread, plain.curvature * spread)
    complaint = same(expected, case.evaluate(given, weights=weights), 1e-12)
    if complaint or weights.size == spread.size:
        return complaint
    return same(expected._replace(value=plain.value), case.evaluate(given, weights=spread), 1e-12)


@CONTRACT.check(
    inputs=lists_of(9, 6),
    means="runs cannot be repeated",
    fix="draw from rankplug.compiled.noise.uniform(key, document) only",
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
