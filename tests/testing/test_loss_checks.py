"""Each check of the loss contract fails on a loss that breaks it, and only says what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from rankplug import LossSpecification, list_loss
from rankplug.registry import registry
from rankplug.testing import loss_checks
from rankplug.testing.checks import ContractError
from rankplug.testing.loss_checks import Case


@list_loss
def squared_gaps(scores, labels, gradient, curvature):
    """Half the squared difference between score gaps and label gaps, over all pairs: correct."""
    total = 0.0
    for i in range(scores.size):
        gradient[i] = 0.0
        curvature[i] = scores.size - 1.0
        for j in range(scores.size):
            gap = (scores[i] - scores[j]) - (labels[i] - labels[j])
            gradient[i] += gap
            total += gap * gap / 4.0
    return total


@list_loss
def wrong_sign(scores, labels, gradient, curvature):
    for i in range(scores.size):
        gradient[i] = labels[i] - labels.mean()
    return (scores * (labels.mean() - labels)).sum()


@list_loss
def wrong_curvature(scores, labels, gradient, curvature):
    total = 0.0
    for i in range(scores.size):
        gradient[i] = scores[i]
        curvature[i] = 3.0
        total += 0.5 * scores[i] ** 2
    return total


@list_loss
def negative_curvature(scores, labels, gradient, curvature):
    curvature[:] = -1.0
    return 0.0


@list_loss
def reads_positions(scores, labels, gradient, curvature):
    for i in range(scores.size):
        gradient[i] = float(i)
    return 0.0


@list_loss
def overflows(scores, labels, gradient, curvature):
    for i in range(scores.size):
        gradient[i] = np.exp(scores[i])
    return gradient.sum()


@list_loss
def long_lists_divide_by_zero(scores, labels, gradient, curvature):
    value = 1.0 / (scores.size - 33)
    gradient[:] = value
    return value


@pytest.fixture
def named():
    """Registers a loss for one test and gives its case."""

    def register(function, **declared):
        name = function.__name__
        registry().add(LossSpecification(name=name, summary="under test", implementation=function, **declared))
        return Case(name, longest=200)

    return register


def test_a_correct_loss_passes_every_check(named):
    case = named(squared_gaps, convex=True, curvature="exact")
    case = Case(case.name, zero_cases=frozenset({"one document"}), longest=200)
    for check in loss_checks.CHECKS:
        check(case)


@pytest.mark.parametrize(
    ("check", "function", "declared", "sentence"),
    [
        (loss_checks.gradient_is_the_derivative_of_the_value, wrong_sign, {}, "training follows a wrong direction"),
        (loss_checks.gradient_holds_under_noise, wrong_sign, {}, "finite differences give"),
        (
            loss_checks.exact_curvature_is_the_second_derivative,
            wrong_curvature,
            {"curvature": "exact", "shift_invariant": False},
            "boosting takes steps of a wrong length",
        ),
        (loss_checks.curvature_is_never_negative, negative_curvature, {}, "the curvature is negative"),
        (loss_checks.adding_a_constant_changes_nothing, wrong_curvature, {}, "declare shift_invariant=False"),
        (loss_checks.order_of_documents_does_not_matter, reads_positions, {"gradient": "lambda"}, "order of the file"),
        (
            loss_checks.uninformative_lists_give_no_gradient,
            wrong_curvature,
            {},
            "lists that say nothing about order would add noise",
        ),
        (loss_checks.extreme_scores_give_finite_results, overflows, {"shift_invariant": False}, "training ends in nan"),
        (loss_checks.short_and_long_lists_give_finite_results, long_lists_divide_by_zero, {}, "is not finite"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_loss_fails_the_check_that_is_meant_for_it(named, check, function, declared, sentence):
    with pytest.raises(ContractError, match=sentence):
        check(named(function, **declared))


def test_a_failure_names_the_loss_and_the_input(named):
    with pytest.raises(ContractError, match=r"^wrong_sign: the gradient is .* on scores=\[.*\], labels=\[.*\]; "):
        loss_checks.gradient_is_the_derivative_of_the_value(named(wrong_sign))
