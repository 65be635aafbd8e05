"""The paper's equations, computed as they are printed and compared with what they are said to be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Check, Checks, Evidence, Results
from rankplug_uniquerating.study.three_forms import evaluate_by_autograd, largest_deviation, loop, made_list

Doubles = NDArray[np.float64]
ROUNDING = 1e-9
EXAMPLE_LABELS = np.array([1.0, 2.0, 2.0, 0.0])
EXAMPLE_SCORES = np.log([2.0, 3.0, 4.0, 5.0])
"""The example of the paper's Section 3."""


def residuals(scores: Doubles, labels: Doubles) -> Doubles:
    """Compute Algorithm 2 (Eq. 4), each line with its exponentials made stable.

    >>> residuals(EXAMPLE_SCORES, EXAMPLE_LABELS).round(6).tolist()
    [-0.215584, 1.05, 0.954545, -1.788961]
    """
    lower = labels[:, None] > labels[None, :]
    log_rivals = np.logaddexp.reduce(np.where(lower, scores[None, :], -np.inf), axis=1)
    weights = (2.0**labels - 1.0) * (labels > labels.min())
    joint = np.logaddexp(scores, log_rivals)
    own = weights * np.exp(log_rivals - joint)
    from_higher = (weights[:, None] * lower * np.exp(scores[None, :] - joint[:, None])).sum(axis=0)
    gaps: Doubles = (own - from_higher) / max(np.unique(labels).size - 1, 1)
    return gaps


def largest_residual_deviation(lengths: tuple[int, ...] = (2, 10, 60), sign: float = 1.0) -> float:
    """Return the largest deviation of Eq. 4's residuals from minus the gradient of Eq. 2, which autograd finds.

    Args:
        lengths: of the lists that are tried.
        sign: of the gradient.
    """
    lists = [made_list(max(length, 3)) for length in lengths] + [(EXAMPLE_SCORES, EXAMPLE_LABELS)]
    return max(
        float(np.abs(residuals(scores, labels) + sign * evaluate_by_autograd(loop, scores, labels)[1]).max())
        for scores, labels in lists
    )


def windowed_loss(window: int, scores: Doubles, labels: Doubles) -> float:
    """Return the loss of one list by the plugin ``urank``, with windows of some documents (Eq. 3)."""
    from rankplug.losses import loss

    evaluation = loss(f"urank[window={window}]").evaluate(scores, labels, np.array([0, scores.size]))
    return float(evaluation.value[0])


def pairwise_logistic(scores: Doubles, labels: Doubles) -> float:
    """Compute ``sum_{y_d > y_c} (2^y_d - 1) log(1 + e^(f_c - f_d)) / (R - 1)``."""
    pairs = labels[:, None] > labels[None, :]
    costs = (2.0 ** labels[:, None] - 1.0) * np.logaddexp(0.0, scores[None, :] - scores[:, None])
    return float(costs[pairs].sum() / max(np.unique(labels).size - 1, 1))


def largest_pairwise_deviation(window: int = 1) -> float:
    """Return the largest deviation of the loss from the weighted pairwise logistic one, which windows of one equal."""
    return max(abs(windowed_loss(window, *made_list(n)) - pairwise_logistic(*made_list(n))) for n in (3, 20, 60))


def doubling_gains() -> tuple[float, float]:
    """Return how much the loss falls at least and at most where windows double."""
    widths = (1, 2, 4, 8, 16, 32)
    lists = [made_list(n, seed) for n in (10, 40) for seed in range(5)]
    losses = np.array([[windowed_loss(width, *query) for width in widths] for query in lists])
    falls = losses[:, :-1] - losses[:, 1:]
    return float(falls.min()), float(falls.max())


def umart_curvature(scores: Doubles, labels: Doubles, window: int, *, printed: bool, sigma: float = 2.0) -> Doubles:
    """Compute Eq. 6 of one list, as printed or as the derivative of Eq. 5, both with the printed factor ``2 sigma^2``.

    >>> labels, scores = np.array([2.0, 0.0, 1.0, 0.0, 1.0]), np.array([0.3, 0.5, -0.2, 0.1, 0.0])
    >>> umart_curvature(scores, labels, 2, printed=False).round(4).tolist()
    [2.3256, 3.4842, 0.4581, 0.9699, 0.8132]
    >>> umart_curvature(scores, labels, 2, printed=True).round(2).tolist()
    [6.66, -3.48, 0.89, -0.97, 0.98]
    """
    ranks = np.empty(scores.size)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
    discounts = 1.0 / np.log2(1.0 + ranks)
    ideal = ((2.0 ** np.sort(labels)[::-1] - 1.0) / np.log2(2.0 + np.arange(labels.size))).sum()
    curvature = np.zeros(scores.size)
    for document in range(scores.size):
        lower = np.flatnonzero(labels < labels[document])
        lower = lower[np.argsort(-scores[lower], kind="stable")]
        for first in range(0, lower.size, window):
            inside = lower[first : first + window]
            exponentials = np.exp(sigma * (scores[inside] - scores[document]))
            shares = exponentials / (1.0 + exponentials.sum())
            weights = (2.0 ** labels[document] - 2.0 ** labels[inside]) * abs(discounts[document] - discounts[inside])
            weights /= ideal * (0.01 + abs(scores[document] - scores[inside]))
            own = 1.0 / (1.0 + exponentials.sum())
            curvature[document] += (weights * shares * (1.0 if printed else own)).sum()
            curvature[inside] += (-1.0 if printed else 1.0) * weights * shares * (1.0 - shares)
    curvatures: Doubles = 2.0 * sigma**2 * curvature
    return curvatures


def largest_curvature_deviation(window: int = 2) -> float:
    """Return the largest deviation between the derivative of Eq. 5 and the plugin ``umart``."""
    from rankplug.losses import loss

    lists = [made_list(n, seed) for n in (5, 30) for seed in range(3)]
    deviations = []
    for scores, labels in lists:
        ours = loss(f"umart[window={window}]").evaluate(scores, labels, np.array([0, scores.size])).curvature
        deviations.append(np.abs(ours - umart_curvature(scores, labels, window, printed=False)).max())
    return float(max(deviations))


def least_printed_curvature(window: int = 2) -> float:
    """Return the least value of Eq. 6 as printed, over some lists."""
    lists = [made_list(n, seed) for n in (5, 30) for seed in range(3)]
    return float(min(umart_curvature(*given, window, printed=True).min() for given in lists))


def forms_agree(results: Results) -> Evidence:
    """Check values and gradients of the three forms on four lists."""
    words = "largest deviation of value and gradient, 4 lists"
    return _check(words, largest_deviation(), largest_deviation("urank[window=2]"), "windows of 2")


def residuals_are_the_gradient(results: Results) -> Evidence:
    """Check Eq. 4 against the gradient of Eq. 2."""
    right, wrong = (largest_residual_deviation(sign=sign) for sign in (1.0, -1.0))
    return _check("largest deviation, 4 lists", right, wrong, "with the other sign")


def _check(what: str, value: float, control: float, control_of: str) -> Checks:
    return Checks({"": Check(what, value, at_most=ROUNDING, control=control, control_of=control_of)})


def windows(results: Results) -> Evidence:
    """Check both ends of Section 3.3."""
    least, most = doubling_gains()
    return Checks(
        {
            "u = 1": Check(
                "largest deviation from the weighted pairwise logistic loss",
                largest_pairwise_deviation(),
                at_most=ROUNDING,
                control=largest_pairwise_deviation(window=2),
                control_of="windows of 2",
            ),
            "u doubled": Check(
                "least fall of the loss",
                least,
                at_least=-ROUNDING,
                control=-most,
                control_of="with windows halved",
            ),
        }
    )
