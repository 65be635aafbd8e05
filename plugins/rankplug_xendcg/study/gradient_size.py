"""Section 4.2: XE-NDCG's gradient stays small however long the list is, lambdaMART's grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTHS = (2, 4, 8, 16, 32, 64, 128, 256)
LOSSES = {"XE-NDCG": "xe_ndcg", "lambdaMART": "lambdarank[sigma=1]"}


def gradient_sizes(name: str, lists: int = 40, seed: int = 0) -> NDArray[np.float64]:
    """Largest ``||gradient||_1`` among random lists, for each of ``LENGTHS``."""
    from rankplug.losses import loss

    generator = np.random.default_rng(seed)
    largest = []
    for length in LENGTHS:
        size = lists * length
        scores, labels = generator.normal(size=size), generator.integers(0, 5, size).astype(float)
        gradient = loss(name).evaluate(scores, labels, np.arange(0, size + 1, length)).gradient
        largest.append(np.abs(gradient).reshape(lists, length).sum(axis=1).max())
    return np.array(largest)


def slack_of_xe_ndcg() -> float:
    """Of Proposition 1, ``||gradient||_1 <= 2``."""
    return float((2.0 - gradient_sizes(LOSSES["XE-NDCG"])).min())


def slack_of_lambdamart() -> float:
    """Of Claim 2, ``||gradient||_1 <= sigma m^2``."""
    return float((np.array(LENGTHS) ** 2 - gradient_sizes(LOSSES["lambdaMART"])).min())


def draw_gradient_sizes() -> Figure:
    """Largest gradient by the length of the list."""
    from rankplug.plotting import colour, new_figure

    figure, axes = new_figure(width=5.0, height=3.0)
    for model, name in LOSSES.items():
        axes.plot(LENGTHS, gradient_sizes(name), marker="o", markersize=4, color=colour(model), label=model)
    axes.axhline(2.0, color=colour("XE-NDCG"), linestyle="dashed", linewidth=0.9, label="Proposition 1: at most 2")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
    axes.set(xlabel="documents in the list", ylabel="largest |gradient|, summed")
    axes.legend(loc="upper left")
    return figure
