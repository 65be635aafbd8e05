"""Exact quantities of the paper: the bound on NDCG, sizes of gradients, the series of the Newton step, the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rankplug.losses import loss
from rankplug.metrics import metric
from rankplug.plotting import PALETTE, new_figure
from rankplug_xendcg.study.protocol import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LABELS_OF_BOUND = (2.0, 1.0, 0.0)


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
    value = loss(f"xe_ndcg[gamma={gamma}]").evaluate(scores, labels, starts, seed=seed).value
    return float(share * value.mean() - bound(scores, labels, starts))


def bound(scores: NDArray[np.float64], labels: NDArray[np.float64], starts: NDArray[np.int64]) -> float:
    """Return the right-hand side of Theorem 1."""
    ndcg = metric("ndcg")(scores, labels, starts)
    ideal = metric("dcg")(labels, labels, starts)
    return float(-np.log(ndcg.mean() + (1.0 / ideal).mean()))


def draw_bound(gamma: float = 0.5) -> Figure:
    """Draw loss and bound of a list of three documents, as the best one's lead grows."""
    leads = np.linspace(-6, 6, 121)
    starts = np.array([0, 3])
    lists = [np.array([lead, 0.0, -0.5]) for lead in leads]
    labels = np.array(LABELS_OF_BOUND)

    def values(name: str, seed: int = 0) -> list[float]:
        return [float(loss(name).evaluate(scores, labels, starts, seed=seed).value[0]) for scores in lists]

    figure, axes = new_figure(width=5.4, height=3.1)
    draws = np.array([values("xe_ndcg", seed) for seed in range(30)])
    axes.fill_between(leads, draws.min(0), draws.max(0), color=COLOURS["XE-NDCG"], alpha=0.2, label="30 draws of gamma")
    axes.plot(leads, values(f"xe_ndcg[gamma={gamma}]"), color=COLOURS["XE-NDCG"], label=f"XE-NDCG, gamma = {gamma:g}")
    bounds = [bound(scores, labels, starts) for scores in lists]
    axes.plot(leads, bounds, color=PALETTE[3], drawstyle="steps-mid", label="-log(NDCG + 1/IDCG)")
    axes.set(xlabel="lead of the document with label 2 over the one with label 1", ylabel="loss of the list")
    axes.legend(loc="upper right")
    return figure


LENGTHS = (2, 4, 8, 16, 32, 64, 128, 256)
LOSSES = {"XE-NDCG": "xe_ndcg", "lambdaMART": "lambdarank[sigma=1]"}


def gradient_sizes(name: str, lists: int = 40, seed: int = 0) -> NDArray[np.float64]:
    """Return the largest ``||gradient||_1`` among random lists, for each of ``LENGTHS``."""
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
    figure, axes = new_figure(width=5.0, height=3.0)
    for model, name in LOSSES.items():
        axes.plot(LENGTHS, gradient_sizes(name), marker="o", markersize=4, color=COLOURS[model], label=model)
    axes.axhline(2.0, color=COLOURS["XE-NDCG"], linestyle="dashed", linewidth=0.9, label="Proposition 1: at most 2")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
    axes.set(xlabel="documents in the list", ylabel="largest |gradient|, summed")
    axes.legend(loc="upper left")
    return figure


LENGTHS_OF_SERIES = (2, 3, 4, 5, 6, 8, 10, 15, 20, 40)
KINDS = {"series": "three terms, as in the paper", "diagonal": "diagonal only"}
EPSILON = 1e-3


def step(kind: str, scores: NDArray[np.float64], labels: NDArray[np.float64], seed: int = 0) -> NDArray[np.float64]:
    """Return the step on each score that a boosting engine takes with a kind of curvature, less its mean."""
    evaluation = loss(f"xe_ndcg[step={kind}]").evaluate(scores, labels, [0, scores.size], seed=seed, step="newton")
    whole = -evaluation.gradient / evaluation.curvature
    return whole - whole.mean()


def series_frame(lists: int = 60, seed: int = 0) -> pd.DataFrame:
    """Return the mean cosine with Newton's step, and mean ratio of the norms, a row for each length and kind."""
    generator = np.random.default_rng(seed)
    rows = []
    for length in LENGTHS_OF_SERIES:
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
    frame = series_frame()
    figure, axes = new_figure(width=5.0, height=3.0)
    for (kind, name), colour in zip(KINDS.items(), (PALETTE[0], PALETTE[1]), strict=True):
        rows = frame[frame["step"] == kind]
        axes.plot(rows["documents"], rows["norm ratio"], marker="o", markersize=4, color=colour, label=name)
    axes.axhline(1.0, color="#888888", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks(LENGTHS_OF_SERIES, [str(length) for length in LENGTHS_OF_SERIES])
    axes.minorticks_off()
    axes.set(xlabel="documents in the list", ylabel="length of the step / Newton's")
    axes.legend(loc="upper right")
    return figure


LABELS_OF_TARGET = (4, 2, 1, 1, 0, 0)


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
    labels = np.array([best_label, *LABELS_OF_TARGET[1:]], dtype=np.float64)
    positions = np.arange(labels.size)
    shares = targets(labels, draws)
    figure, axes = new_figure(width=5.8, height=3.1)
    jitter = np.random.default_rng(1).uniform(-0.12, 0.12, shares.shape)
    axes.plot((positions + jitter).ravel(), shares.ravel(), ".", color=COLOURS["XE-NDCG"], alpha=0.25, markersize=3)
    for name, weights, marker in (
        ("gamma = 0: $2^y$", np.exp2(labels), "^"),
        ("gamma = 1: $2^y - 1$", np.exp2(labels) - 1, "v"),
        ("ListNet: $e^y$", np.exp(labels), "x"),
    ):
        shade = COLOURS["ListNet"] if "ListNet" in name else "black"
        axes.plot(positions, weights / max(weights.sum(), 1e-15), marker, color=shade, markersize=6, label=name)
    axes.plot([], [], ".", color=COLOURS["XE-NDCG"], label=f"{draws} draws of gamma")
    axes.set_xticks(positions, [f"label {label:g}" for label in labels])
    axes.set(ylabel="share of the target", ylim=(0, 1))
    axes.legend(loc="upper right")
    return figure
