"""Effect of gamma: the target of XE-NDCG is a random blur of the gains, drawn anew in each iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankplug_xendcg.study.colours import colour_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = (4, 2, 1, 1, 0, 0)


def targets(labels: ArrayLike, draws: int = 200, seed: int = 0) -> NDArray[np.float64]:
    """Return ``phi_i = (2^y_i - gamma_i) / sum_j (2^y_j - gamma_j)``, one row a draw of gamma from the unit cube.

    >>> bool(np.allclose(targets([2, 0]).sum(axis=1), 1.0))
    True
    """
    gains = np.exp2(np.asarray(labels, dtype=np.float64))
    blurred = gains - np.random.default_rng(seed).uniform(size=(draws, gains.size))
    shares: NDArray[np.float64] = blurred / blurred.sum(axis=1, keepdims=True)
    return shares


def draw_targets(best_label: int = 4, draws: int = 200) -> Figure:
    """Draw the target of a list under many gammas, beside the two fixed ones and ListNet's."""
    from rankplug.plotting import new_figure

    labels = np.array([best_label, *LABELS[1:]], dtype=np.float64)
    positions = np.arange(labels.size)
    shares = targets(labels, draws)
    figure, axes = new_figure(width=5.8, height=3.1)
    jitter = np.random.default_rng(1).uniform(-0.12, 0.12, shares.shape)
    axes.plot((positions + jitter).ravel(), shares.ravel(), ".", color=colour_of("XE-NDCG"), alpha=0.25, markersize=3)
    for name, weights, marker in (
        ("gamma = 0: $2^y$", np.exp2(labels), "^"),
        ("gamma = 1: $2^y - 1$", np.exp2(labels) - 1, "v"),
        ("ListNet: $e^y$", np.exp(labels), "x"),
    ):
        shade = colour_of("ListNet") if "ListNet" in name else "black"
        axes.plot(positions, weights / max(weights.sum(), 1e-15), marker, color=shade, markersize=6, label=name)
    axes.plot([], [], ".", color=colour_of("XE-NDCG"), label=f"{draws} draws of gamma")
    axes.set_xticks(positions, [f"label {label:g}" for label in labels])
    axes.set(ylabel="share of the target", ylim=(0, 1))
    axes.legend(loc="upper right")
    return figure
