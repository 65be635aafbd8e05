"""Each check of the loss contract fails on a loss that breaks it, and only says what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from rankplug import LossSpecification, PaddedParameters, list_loss, padded_loss
from rankplug.losses import PaddedLoss
from rankplug.registry import registry
from rankplug.testing import loss_checks
from rankplug.testing._checks import ContractError
from rankplug.testing.loss_checks import Case


@list_loss
def squared_gaps(scores, labels, gradient, curvature):
    """Compute half the squared difference between score gaps and label gaps, over all pairs: correct."""
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
def wrong_far_out(scores, labels, gradient, curvature):
    """Forget the gradient of scores that only noise makes so large."""
    for i in range(scores.size):
        gradient[i] = scores[i] if np.abs(scores[i]) < 1.8 else 0.0
    return 0.5 * (scores * scores).sum()


@list_loss
def one_too_many(scores, labels, gradient, curvature):
    total = 0.0
    for i in range(scores.size + 1):
        total += scores[i]
        gradient[i] = 1.0
    return total


@list_loss
def misnamed(scores, label, gradient, curvature):
    return label[0]


@list_loss
def every_triple(scores, labels, gradient, curvature):
    total = 0.0
    for i in range(scores.size):
        for j in range(scores.size):
            for k in range(scores.size):
                total += np.sqrt(np.abs((scores[i] - scores[j]) * (scores[j] - scores[k])))
    return total


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
def unguarded_labels(scores, labels, gradient, curvature):
    for i in range(scores.size):
        gradient[i] = labels[i] / labels.sum()
    return gradient.sum()


@padded_loss
def softmax_over_padding(scores, labels, mask):
    return -(labels * scores.log_softmax(1)).sum(1)


@padded_loss
def mean_over_padding(scores, labels, mask):
    return (scores - labels).square().mean(1)


@padded_loss
def masked_mean(scores, labels, mask):
    return ((scores - labels).square() * mask).sum(1) / mask.sum(1)


@pytest.fixture
def named():
    """Return a function that registers a loss for one test and gives its case."""

    def register(function, **declared):
        name = function.__name__
        if isinstance(function, PaddedLoss):
            declared |= {"parameters": PaddedParameters}
        registry().add(LossSpecification(name=name, summary="under test", implementation=function, **declared))
        return Case(name, longest=200)

    return register


def test_a_correct_loss_passes_every_check(named):
    case = named(squared_gaps, convex=True, curvature="exact", zero_gradient=frozenset({"one document"}))
    for check in loss_checks.CONTRACT.checks:
        check(case)


BROKEN = [
    ("gradient_is_the_derivative_of_the_value", wrong_sign, {}, "training follows a wrong direction"),
    ("gradient_holds_under_noise", wrong_far_out, {}, "finite differences give"),
    ("time_grows_no_faster_than_pairs", every_triple, {"gradient": "lambda"}, "times as long as one of 150"),
    (
        "exact_curvature_is_the_second_derivative",
        wrong_curvature,
        {"curvature": "exact", "shift_invariant": False},
        "boosting takes steps of a wrong length",
    ),
    ("adding_a_constant_changes_nothing", wrong_curvature, {}, "declare shift_invariant=False"),
    ("order_of_documents_does_not_matter", reads_positions, {"gradient": "lambda"}, "order of the file"),
    ("uninformative_lists_give_no_gradient", wrong_curvature, {}, "lists that say nothing about order would add noise"),
    ("extreme_scores_give_finite_results", overflows, {"shift_invariant": False}, "training ends in nan"),
    ("labels_of_zero_give_finite_results", unguarded_labels, {}, "divides by sums of labels"),
    ("padding_is_never_seen", softmax_over_padding, {}, "use mask"),
    ("lists_do_not_see_each_other", softmax_over_padding, {}, "among others"),
]


@pytest.mark.parametrize(("check", "function", "declared", "sentence"), BROKEN, ids=[check for check, *_ in BROKEN])
def test_a_broken_loss_fails_the_check_that_is_meant_for_it(named, check, function, declared, sentence):
    with pytest.raises(ContractError, match=sentence):
        getattr(loss_checks, check)(named(function, **declared))


@pytest.mark.parametrize(
    ("function", "check", "complaint", "fix"),
    [
        (one_too_many, "indices_stay_inside_the_list", "IndexError: index 1 is out of bounds", "range(scores.size)"),
        (misnamed, "its_arguments_are_known", "the argument label is neither supplied nor a parameter", "rename"),
    ],
)
def test_bad_indices_and_arguments_get_their_own_remedy(named, function, check, complaint, fix):
    problems = findings(named(function))
    (failed,) = [finding for finding in problems.values() if finding.failed]
    assert failed.check == check and complaint in failed.what and fix in failed.fix


def test_a_wrong_sign_is_not_blamed_on_noise_too(named):
    problems = findings(named(wrong_sign, zero_gradient=frozenset()))
    failed = [name for name, finding in problems.items() if finding.failed]
    assert "gradient_is_the_derivative_of_the_value" in failed and "gradient_holds_under_noise" not in failed


def findings(case):
    return {finding.check: finding for finding in loss_checks.CONTRACT.findings(case)}


@pytest.mark.parametrize("function", [softmax_over_padding, mean_over_padding])
def test_a_loss_that_sees_padding_fails_that_check_alone(named, function):
    problems = findings(named(function))
    assert [finding.check for finding in problems.values() if finding.failed] == ["padding_is_never_seen"]
    assert problems["gradient_holds_under_noise"].status == "not tried"


def test_a_loss_that_goes_by_its_mask_passes_every_check(named):
    problems = findings(named(masked_mean, shift_invariant=False, zero_gradient=frozenset()))
    assert {finding.status for finding in problems.values()} == {"ok", "not applicable"}
