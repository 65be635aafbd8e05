"""First part of the contract of losses: they run, are finite, and do not see padding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankplug.losses import PaddedLoss, padding_filled
from rankplug.testing.check_input import CheckInput
from rankplug.testing.checks import NotApplicableError
from rankplug.testing.loss_case import CONTRACT, Case, Noise, lists_of, not_finite, same

COMPUTED, FINITE, EXTREME, PADDED = range(4)
"""Stages on which all others rest: where a loss is nan or sees padding, every other complaint would mislead."""


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
