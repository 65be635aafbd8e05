"""The paper's equations, windows in a picture, and three forms of uRank's loss with their running times."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rankplug.losses import Loss, loss
from rankplug.plotting import PALETTE, draw_mean, new_figure
from rankplug.studies import Check, Checks, Evidence, Results
from rankplug_uniquerating.study.protocol import COLOURS

if TYPE_CHECKING:
    import torch
    from matplotlib.figure import Figure


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


def pairwise_logistic(scores: Doubles, labels: Doubles) -> float:
    """Compute ``sum_{y_d > y_c} (2^y_d - 1) log(1 + e^(f_c - f_d)) / (R - 1)``."""
    pairs = labels[:, None] > labels[None, :]
    costs = (2.0 ** labels[:, None] - 1.0) * np.logaddexp(0.0, scores[None, :] - scores[:, None])
    return float(costs[pairs].sum() / max(np.unique(labels).size - 1, 1))


def largest_pairwise_deviation(window: int = 1) -> float:
    """Return the largest deviation of the loss from the weighted pairwise logistic one, which windows of one equal."""
    return max(
        abs(evaluate_sorted(*made_list(n), f"urank[window={window}]")[0] - pairwise_logistic(*made_list(n)))
        for n in (3, 20, 60)
    )


def doubling_gains() -> tuple[float, float]:
    """Return how much the loss falls at least and at most where windows double."""
    widths = (1, 2, 4, 8, 16, 32)
    lists = [made_list(n, seed) for n in (10, 40) for seed in range(5)]
    losses = np.array([[evaluate_sorted(*query, f"urank[window={width}]")[0] for width in widths] for query in lists])
    falls = losses[:, :-1] - losses[:, 1:]
    return float(falls.min()), float(falls.max())


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


LABELS = np.array([2.0, 2.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
SCORES = np.array([1.2, 0.2, 0.9, 0.4, -0.1, 1.0, 0.5, 0.3, -0.4, -0.8])


def windows_of(window: int) -> NDArray[np.int64]:
    """Return at row d, column c the number of the window of d's likelihood in which c competes, 0 where it does not.

    >>> windows_of(2)[2].tolist()
    [0, 0, 0, 0, 0, 1, 1, 2, 2, 3]
    """
    numbers = np.zeros((LABELS.size, LABELS.size), np.int64)
    for document in range(LABELS.size):
        lower = np.flatnonzero(LABELS[document] > LABELS)
        best_first = lower[np.argsort(-SCORES[lower], kind="stable")]
        numbers[document, best_first] = 1 + np.arange(best_first.size) // window
    return numbers


def likelihoods(window: int) -> pd.DataFrame:
    """Return the likelihood of each document above the lowest rating, ``prod_b e^f / (e^f + sum_{c in b} e^{f_c})``."""
    numbers = windows_of(window)
    rows = []
    for document in np.flatnonzero(LABELS.min() < LABELS):
        inside = [numbers[document] == number for number in range(1, numbers[document].max() + 1)]
        parts = [1.0 / (1.0 + np.exp(SCORES[chosen] - SCORES[document]).sum()) for chosen in inside]
        rows.append(
            {"document": document + 1, "rating": LABELS[document], "score": SCORES[document]}
            | {"windows": len(parts), "likelihood": float(np.prod(parts))}
        )
    return pd.DataFrame(rows)


def loss_of_list(window: int) -> float:
    """Return the loss of the list with windows of some documents (Eq. 3), from the likelihoods; nothing is compiled."""
    frame = likelihoods(window)
    gains = 2.0 ** frame["rating"] - 1.0
    return float(-(gains * np.log(frame["likelihood"])).sum() / (np.unique(LABELS).size - 1))


def draw_windows(window: int = 10) -> Figure:
    """Draw which documents compete in which window, and the loss for every width."""
    from matplotlib.colors import ListedColormap

    figure, (left, right) = new_figure(2, width=4.4, height=3.3)
    numbers = windows_of(window)
    shown = np.flatnonzero(LABELS.min() < LABELS)
    colours = ListedColormap(["#F2F2F2", *(PALETTE[position % len(PALETTE)] for position in range(LABELS.size))])
    left.imshow(numbers[shown], cmap=colours, vmin=0, vmax=LABELS.size, aspect="auto", alpha=0.7)
    for row, document in enumerate(shown):
        for competitor in np.flatnonzero(numbers[document]):
            left.text(competitor, row, str(numbers[document, competitor]), ha="center", va="center")
    names = [f"{score:g}\n({label:.0f})" for score, label in zip(SCORES, LABELS, strict=True)]
    left.set_xticks(range(LABELS.size), names)
    left.set_yticks(range(shown.size), [names[document] for document in shown])
    left.tick_params(labelsize=8)
    left.set(xlabel="competitor: score (rating)", ylabel="document: score (rating)")
    left.set_title(f"number of the window, u = {window}", fontsize=9)
    left.grid(visible=False)
    widths = np.arange(1, LABELS.size)
    losses = [loss_of_list(int(width)) for width in widths]
    right.plot(widths, losses, color=COLOURS["uRank"], marker="o", markersize=3)
    at = min(window, int(widths[-1]))
    right.plot(at, losses[at - 1], marker="o", color=PALETTE[3], markersize=8)
    right.set(xlabel="competitors in a window, u", ylabel="loss of the list")
    return figure


def pull_apart(loss: str, gaps: NDArray[np.float64], rival: float) -> NDArray[np.float64]:
    """Return the pull of the loss that separates the first of two documents rated 2 from the second; a third is rated
    0.

    Args:
        loss: its name.
        gaps: scores of the first minus those of the second.
        rival: score of the third.
    """
    scores = np.stack([gaps / 2, -gaps / 2, np.full(gaps.size, rival)], axis=1).reshape(-1)
    starts = np.arange(0, scores.size + 1, 3)
    gradient = Loss.named(loss).evaluate(scores, np.tile([2.0, 2.0, 0.0], gaps.size), starts).gradient.reshape(-1, 3)
    pull: NDArray[np.float64] = (gradient[:, 1] - gradient[:, 0]) / np.abs(gradient).max(axis=1)
    return pull


def draw_pull(rival: float = 0.0) -> Figure:
    """Draw the pull on two documents of one rating: ListMLE favours the one listed first, uRank the one behind."""
    gaps = np.linspace(-3.0, 3.0, 121)
    figure, axes = new_figure(width=5.2, height=3.0)
    axes.plot(gaps, pull_apart("listmle[ties=stable]", gaps, rival), color=PALETTE[7], label="ListMLE, in that order")
    axes.plot(gaps, pull_apart("urank", gaps, rival), color=COLOURS["uRank"], label="uRank")
    axes.axhline(0, color="#333333", linewidth=0.6)
    axes.set(xlabel="score of the first minus score of the second, both rated 2", ylim=(-1.6, 2.4))
    axes.set_ylabel("pull of the first above the second\n(over the largest gradient)")
    axes.legend(loc="upper right", frameon=False)
    return figure


LENGTHS = (20, 60, 150, 320)
"""Documents of a list; OHSUMED's lists have 152 on average and 320 at most."""
REPETITIONS = 5


def algorithm_1(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Compute the loss as printed, on n x n tensors, with the labels in line 4; it exponentiates raw scores."""
    import torch

    ones = torch.ones_like(labels)
    differences = torch.outer(labels, ones) - torch.outer(ones, labels)
    lower = (differences > 0).to(scores)
    exponentials = torch.exp(scores)
    likelihoods = exponentials / (exponentials + lower @ exponentials)
    weights = (2.0**labels - 1.0) * (labels > labels.min())
    return -(weights * torch.log(likelihoods)).sum() / max(int(labels.unique().numel()) - 1, 1)


def loop(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Compute Equation 2, a document at a time."""
    import torch

    total = torch.zeros((), dtype=scores.dtype)
    for document in torch.nonzero(labels > labels.min()).flatten():
        competitors = torch.cat([scores[document][None], scores[labels < labels[document]]])
        log_likelihood = scores[document] - torch.logsumexp(competitors, 0)
        total = total - (2.0 ** labels[document] - 1.0) * log_likelihood
    return total / max(int(labels.unique().numel()) - 1, 1)


def evaluate_by_autograd(
    form: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], scores: Doubles, labels: Doubles
) -> tuple[float, Doubles]:
    """Return the value and gradient of a form of the loss."""
    import torch

    leaf = torch.from_numpy(scores.copy()).requires_grad_()
    value = form(leaf, torch.from_numpy(labels))
    value.backward()
    assert leaf.grad is not None
    return float(value.detach()), leaf.grad.numpy()


def evaluate_sorted(scores: Doubles, labels: Doubles, name: str = "urank") -> tuple[float, Doubles]:
    """Return the value and gradient of the plugin."""
    evaluation = loss(name).evaluate(scores, labels, np.array([0, scores.size]))
    return float(evaluation.value[0]), evaluation.gradient


FORMS: dict[str, Callable[[Doubles, Doubles], tuple[float, Doubles]]] = {
    "loop": lambda scores, labels: evaluate_by_autograd(loop, scores, labels),
    "tensor": lambda scores, labels: evaluate_by_autograd(algorithm_1, scores, labels),
    "sorted": evaluate_sorted,
}


def made_list(length: int, seed: int = 0) -> tuple[Doubles, Doubles]:
    """Make scores and labels; shares of the labels as in OHSUMED."""
    generator = np.random.default_rng((seed, length))
    labels = generator.choice(3, size=length, p=(0.7, 0.16, 0.14)).astype(np.float64)
    labels[:3] = (0.0, 1.0, 2.0)
    return generator.normal(size=length), labels


def largest_deviation(sorted_form: str = "urank") -> float:
    """Return the largest deviation between the three forms' values and gradients, over some lists.

    Args:
        sorted_form: the plugin in the place of the third; another loss deviates.
    """
    deviations = []
    for length in LENGTHS:
        case = made_list(length)
        (value, gradient), *others = FORMS["loop"](*case), FORMS["tensor"](*case), evaluate_sorted(*case, sorted_form)
        deviations += [max(abs(value - other), float(np.abs(gradient - slope).max())) for other, slope in others]
    return max(deviations)


def seconds(form: str, length: int, repetitions: int = REPETITIONS) -> list[float]:
    """Return the seconds of one evaluation with its gradient, in each repetition the least of five."""
    scores, labels = made_list(length)
    FORMS[form](scores, labels)
    return [min(_once(form, scores, labels) for _ in range(5)) for _ in range(repetitions)]


def _once(form: str, scores: Doubles, labels: Doubles) -> float:
    begin = time.perf_counter()
    FORMS[form](scores, labels)
    return time.perf_counter() - begin


def timing_frame(lengths: tuple[int, ...] = LENGTHS) -> pd.DataFrame:
    """Measure each form, length and repetition now on this machine, a row for each."""
    rows = [
        {"form": form, "documents": length, "repetition": number, "seconds": value}
        for length in lengths
        for form in FORMS
        for number, value in enumerate(seconds(form, length))
    ]
    return pd.DataFrame(rows)


def published_factors(results: Results) -> tuple[float, float]:
    """Return the least and the greatest factor by which Section 5 says that tensors are faster than loops."""
    printed = results.published[results.published["model"] == "tensor algorithms vs for loops"].iloc[0]
    return float(printed["value"]), float(str(printed["note"]).removeprefix("up to "))


def draw_forms(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw the time over the length of the list, and dashed the loop's by the published factors over tensors."""
    frame = timing_frame()
    factors = published_factors(results)
    figure, axes = new_figure(width=4.8, height=3.2)
    names = {"loop": "loop over documents", "tensor": "tensors (Algorithm 1)", "sorted": "sorted sums (rankplug)"}
    for form, colour in zip(names, (PALETTE[1], PALETTE[5], PALETTE[0]), strict=True):
        rows = frame[frame["form"] == form]
        wide = 1e3 * rows.pivot_table(index="documents", columns="repetition", values="seconds")
        draw_mean(axes, wide, colour, label=names[form], marker="o", markersize=3)
        if form == "tensor":
            reference = {"color": "#666666", "linestyle": "--", "linewidth": 0.8}
            for factor in factors:
                axes.plot(wide.index, factor * wide.mean(axis=1), **reference)
            axes.lines[-1].set_label("loop, as published: {:g} to {:g} times tensors".format(*factors))
    axes.set(xscale="log", yscale="log", xlabel="documents in the list", ylabel="loss and gradient (ms)")
    axes.set_xticks(LENGTHS, list(map(str, LENGTHS)))
    axes.minorticks_off()
    milliseconds = 1e3 * frame["seconds"]
    axes.set_ylim(milliseconds.min() / 2, milliseconds.max() * 30)
    axes.legend(loc="upper left", frameon=False)
    return frame, figure
