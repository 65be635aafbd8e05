"""Section 4.2: XE-NDCG's gradient stays small however long the list is, lambdaMART's grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug_xendcg.study.colours import colour_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTHS = (2, 4, 8, 16, 32, 64, 128, 256)
LOSSES = {"XE-NDCG": "xe_ndcg", "lambdaMART": "lambdarank[sigma=1]"}


def gradient_sizes(name: str, lists: int = 40, seed: int = 0) -> NDArray[np.float64]:
    """Return the largest ``||gradient||_1`` among random lists, for each of ``LENGTHS``."""
    from rankplug.losses import loss

    generator = np.random.default_rng(seed)
    largest = []
    for length in LENGTHS:
        size = lists * length
        scores, labels = generator.normal(size=size), generator.integers(0, 5, size).astype(float)
        gradient = loss(name).evaluate(scores, labels, np.arange(0, size + 1, length)).gradient
        largest.append(np.abs(gradient).reshape(lists, length).sum(axis=1).max())
    return np.array(largest)


def largest_gradient(model: str) -> float:
    """Return the largest ``||gradient||_1``, which Proposition 1 says is at most 2 for XE-NDCG."""
    return float(gradient_sizes(LOSSES[model]).max())


def largest_share_of_squares(sigma: float = 1.0) -> float:
    """Return the largest ``||gradient||_1 / m^2`` of lambdaMART, which Claim 2 says is at most sigma."""
    return float((gradient_sizes(f"lambdarank[sigma={sigma:g}]") / np.array(LENGTHS) ** 2).max())


def draw_gradient_sizes() -> Figure:
    """Draw the largest gradient by the length of the list."""
    from rankplug.plotting import new_figure

    figure, axes = new_figure(width=5.0, height=3.0)
    for model, name in LOSSES.items():
        axes.plot(LENGTHS, gradient_sizes(name), marker="o", markersize=4, color=colour_of(model), label=model)
    axes.axhline(2.0, color=colour_of("XE-NDCG"), linestyle="dashed", linewidth=0.9, label="Proposition 1: at most 2")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
    axes.set(xlabel="documents in the list", ylabel="largest |gradient|, summed")
    axes.legend(loc="upper left")
    return figure
