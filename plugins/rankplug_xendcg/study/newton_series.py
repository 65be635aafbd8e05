"""Accuracy of the three-term Newton step of Section 4.3 by the length of the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LENGTHS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 40)
KINDS = {"series": "three terms, as in the paper", "diagonal": "diagonal only"}
EPSILON = 1e-3


def step(kind: str, scores: NDArray[np.float64], labels: NDArray[np.float64], seed: int = 0) -> NDArray[np.float64]:
    """Return the step on each score that a boosting engine takes with a kind of curvature, less its mean."""
    from rankplug.losses import loss

    evaluation = loss(f"xe_ndcg[step={kind}]").evaluate(scores, labels, [0, scores.size], seed=seed, step="newton")
    whole = -evaluation.gradient / evaluation.curvature
    return whole - whole.mean()


def series_frame(lists: int = 60, seed: int = 0) -> pd.DataFrame:
    """Return the mean cosine with Newton's step, and mean ratio of the norms, a row for each length and kind."""
    import pandas as pd

    generator = np.random.default_rng(seed)
    rows = []
    for length in LENGTHS:
        draws = [(generator.normal(size=length), generator.integers(0, 5, length).astype(float)) for _ in range(lists)]
        for kind in KINDS:
            compared = [
                _compare(step(kind, scores, labels, draw), step("exact", scores, labels, draw))
                for draw, (scores, labels) in enumerate(draws)
            ]
            cosine, ratio = np.mean(compared, axis=0)
            rows.append({"documents": length, "step": kind, "cosine": cosine, "norm ratio": ratio})
    return pd.DataFrame(rows)


def _compare(step: NDArray[np.float64], exact: NDArray[np.float64]) -> tuple[float, float]:
    sizes = float(np.linalg.norm(step)), float(np.linalg.norm(exact))
    return float(step @ exact) / (sizes[0] * sizes[1]), sizes[0] / sizes[1]


def spectral_radius(scores: NDArray[np.float64], epsilon: float = EPSILON) -> float:
    """Return the spectral radius of S in ``H = D (I - S)``; the series converges where it is below 1 (Claim 4)."""
    weights = np.exp(scores)
    rho = weights / (weights.sum() + epsilon)
    steps = np.tile(rho, (rho.size, 1)) / (1.0 - rho)[:, None]
    np.fill_diagonal(steps, 0.0)
    return float(np.abs(np.linalg.eigvals(steps)).max())


def largest_radius(lists: int = 200, seed: int = 0, epsilon: float = EPSILON) -> float:
    """Return the largest spectral radius over random lists of 2 to 30 documents."""
    generator = np.random.default_rng(seed)
    return max(spectral_radius(generator.normal(size=generator.integers(2, 31)), epsilon) for _ in range(lists))


def smallest_eigenvalue(scores: NDArray[np.float64], epsilon: float = EPSILON) -> float:
    """Return the smallest eigenvalue of the Hessian ``diag(rho) - rho rho'`` over its largest (Claim 3)."""
    weights = np.exp(scores)
    rho = weights / (weights.sum() + epsilon)
    eigenvalues = np.linalg.eigvalsh(np.diag(rho) - np.outer(rho, rho))
    return float(eigenvalues[0] / eigenvalues[-1])


def least_eigenvalue(lists: int = 200, seed: int = 0, epsilon: float = EPSILON) -> float:
    """Return the least eigenvalue over random lists of 2 to 30 documents."""
    generator = np.random.default_rng(seed)
    return min(smallest_eigenvalue(generator.normal(size=generator.integers(2, 31)), epsilon) for _ in range(lists))


def draw_series() -> Figure:
    """Draw the length of the step over that of Newton's, by the length of the list."""
    from rankplug.plotting import PALETTE, new_figure

    frame = series_frame()
    figure, axes = new_figure(width=5.0, height=3.0)
    for (kind, name), colour in zip(KINDS.items(), (PALETTE[0], PALETTE[1]), strict=True):
        rows = frame[frame["step"] == kind]
        axes.plot(rows["documents"], rows["norm ratio"], marker="o", markersize=4, color=colour, label=name)
    axes.axhline(1.0, color="#888888", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
    axes.minorticks_off()
    axes.set(xlabel="documents in the list", ylabel="length of the step / Newton's")
    axes.legend(loc="upper right")
    return figure
