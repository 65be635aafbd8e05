"""Theorem 1 on made lists: XE-NDCG bounds NDCG from below, for every gamma.

``mean of l_q >= -log(mean of NDCG_q + mean of 1 / IDCG_q)``, where NDCG has no cut-off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug_xendcg.study.colours import colour_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = (2.0, 1.0, 0.0)


def smallest_slack(sets: int = 300, seed: int = 0, share: float = 1.0) -> float:
    """Return the least by which the loss, or a share of it, exceeds the bound, over random lists, scores and gammas."""
    generator = np.random.default_rng(seed)
    return min(slack_of_set(generator, draw, share) for draw in range(sets))


def slack_of_set(generator: np.random.Generator, draw: int, share: float = 1.0) -> float:
    """Return the slack of one random set of up to eight lists, each with a relevant document."""
    lengths = generator.integers(2, 12, size=generator.integers(1, 9))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    labels = generator.integers(0, 5, size=starts[-1]).astype(float)
    labels[starts[:-1]] = generator.integers(1, 5, size=lengths.size)
    scores = (
        generator.normal(scale=generator.choice([0.3, 2.0, 8.0]), size=starts[-1]) + generator.choice([0, 1]) * labels
    )
    gamma = float(generator.choice([0.0, 0.5, 1.0])) if draw % 2 else "per_iteration"
    return slack(scores, labels, starts, gamma, seed=draw, share=share)


def slack(
    scores: NDArray[np.float64],
    labels: NDArray[np.float64],
    starts: NDArray[np.int64],
    gamma: float | str,
    seed: int = 0,
    share: float = 1.0,
) -> float:
    """Return by how much a share of the mean loss exceeds the bound."""
    from rankplug.losses import loss

    value = loss(f"xe_ndcg[gamma={gamma}]").evaluate(scores, labels, starts, seed=seed).value
    return float(share * value.mean() - bound(scores, labels, starts))


def bound(scores: NDArray[np.float64], labels: NDArray[np.float64], starts: NDArray[np.int64]) -> float:
    """Return the right-hand side of Theorem 1."""
    from rankplug.metrics import metric

    ndcg = metric("ndcg")(scores, labels, starts)
    ideal = metric("dcg")(labels, labels, starts)
    return float(-np.log(ndcg.mean() + (1.0 / ideal).mean()))


def draw_bound(gamma: float = 0.5) -> Figure:
    """Draw loss and bound of a list of three documents, as the best one's lead grows."""
    from rankplug.losses import loss
    from rankplug.plotting import PALETTE, new_figure

    leads = np.linspace(-6, 6, 121)
    starts = np.array([0, 3])
    lists = [np.array([lead, 0.0, -0.5]) for lead in leads]
    labels = np.array(LABELS)

    def values(name: str, seed: int = 0) -> list[float]:
        return [float(loss(name).evaluate(scores, labels, starts, seed=seed).value[0]) for scores in lists]

    figure, axes = new_figure(width=5.4, height=3.1)
    draws = np.array([values("xe_ndcg", seed) for seed in range(30)])
    axes.fill_between(
        leads, draws.min(0), draws.max(0), color=colour_of("XE-NDCG"), alpha=0.2, label="30 draws of gamma"
    )
    axes.plot(leads, values(f"xe_ndcg[gamma={gamma}]"), color=colour_of("XE-NDCG"), label=f"XE-NDCG, gamma = {gamma:g}")
    bounds = [bound(scores, labels, starts) for scores in lists]
    axes.plot(leads, bounds, color=PALETTE[3], drawstyle="steps-mid", label="-log(NDCG + 1/IDCG)")
    axes.set(xlabel="lead of the document with label 2 over the one with label 1", ylabel="loss of the list")
    axes.legend(loc="upper right")
    return figure
