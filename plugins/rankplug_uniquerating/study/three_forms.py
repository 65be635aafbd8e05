"""uRank's loss in three forms: the paper's loop over documents, its Algorithm 1 on tensors, and sorted sums.

The first two are PyTorch expressions that autograd differentiates, as in training. The third is the plugin ``urank``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Results

if TYPE_CHECKING:
    import pandas as pd
    import torch
    from matplotlib.figure import Figure

Doubles = NDArray[np.float64]
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
    from rankplug.losses import loss

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
    import pandas as pd

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


def draw(results: Results) -> tuple[pd.DataFrame, Figure]:
    """Draw the time over the length of the list, and dashed the loop's by the published factors over tensors."""
    from rankplug.plotting import PALETTE, draw_mean, new_figure

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
