"""Figure 2: how ApproxNDCG makes ranks of scores, and two places where the same noise can enter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Results

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SCORES = (0.4, 0.1, -0.3)
DRAWS = 1000
"""Colour of what a document's own score, or its sigmoids, go to."""


def ranks_of_scores(scores: NDArray[np.float64], eta: float = 1.0) -> NDArray[np.float64]:
    """Return smooth ranks (Eq. 18), one row a list: ``1 + sum_j sigma(eta (s_j - s_i))`` over the others."""
    return ranks_of_gaps(scores[:, None, :] - scores[:, :, None], eta)


def ranks_of_gaps(gaps: NDArray[np.float64], eta: float = 1.0) -> NDArray[np.float64]:
    """Return the smooth ranks from the sigmoids' inputs; ``gaps[list, i, j]`` is how far document j is above i."""
    from scipy.special import expit

    others = ~np.eye(gaps.shape[-1], dtype=bool)
    ranks: NDArray[np.float64] = 1.0 + (expit(eta * gaps) * others).sum(axis=-1)
    return ranks


def both_ways(eta: float = 1.0, draws: int = DRAWS, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ranks (a) from sampled log-probabilities and (b) from raw scores with noise in the sigmoids."""
    from scipy.special import log_softmax

    raw = np.array(SCORES)
    gumbel = np.random.default_rng(seed).gumbel(size=(draws, raw.size))
    sampled = log_softmax(raw + gumbel, axis=1)
    noise = gumbel[:, None, :] - gumbel[:, :, None]
    return ranks_of_scores(sampled, eta), ranks_of_gaps(raw[None, None, :] - raw[None, :, None] + noise, eta)


def largest_difference(independent: bool = False) -> float:
    """Return the largest difference between the ranks (a) and (b), over all draws and documents.

    Args:
        independent: draws the noise in the sigmoids anew for each pair, which makes other ranks.
    """
    ranks_a, ranks_b = both_ways()
    if independent:
        raw, noise = np.array(SCORES), np.random.default_rng(1).gumbel(size=(2, DRAWS, len(SCORES), len(SCORES)))
        pairs = np.triu(noise[0] - noise[1], 1)
        ranks_b = ranks_of_gaps(raw[None, None, :] - raw[None, :, None] + pairs - pairs.transpose(0, 2, 1))
    return float(np.abs(ranks_a - ranks_b).max())


def draw(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the two constructions side by side, with the numbers of one draw."""
    import pandas as pd

    from rankplug.plotting import legend_below, new_figure

    ranks_a, ranks_b = both_ways()
    frame = pd.DataFrame(
        {
            "document": np.arange(1, len(SCORES) + 1),
            "raw score": SCORES,
            "rank (a), first draw": ranks_a[0],
            "rank (b), first draw": ranks_b[0],
            f"largest difference in {DRAWS} draws": np.abs(ranks_a - ranks_b).max(axis=0),
        }
    )
    figure, (left, right) = new_figure(2, width=4.2, height=3.6)
    arrows = dict(zip(("the document's own score", "the other's", "noise of the pair"), _arrows(), strict=True))
    for label, style in arrows.items():
        left.plot([], [], label=label, **style)
    legend_below(figure, columns=len(arrows))
    _schema(left, r"\hat{s}", "(a) ranks of sampled scores", noisy=False)
    _schema(right, "f", "(b) ranks of raw scores, noise in the sigmoids", noisy=True)
    return frame, figure


def _arrows() -> tuple[dict[str, Any], ...]:
    """Return the looks of arrows from a document's own score, from the other's, and from noise."""
    from rankplug.plotting import PALETTE

    dashes = (("#777777", "-"), (PALETTE[0], "--"), (PALETTE[3], ":"))
    return tuple({"color": colour, "linestyle": dash, "linewidth": 0.9} for colour, dash in dashes)


def _schema(axes: Any, symbol: str, title: str, *, noisy: bool) -> None:
    own, other, noise = _arrows()
    pairs = [(i, j) for i in (1, 2, 3) for j in (1, 2, 3) if i != j]
    heights = {pair: 5.5 - index for index, pair in enumerate(pairs)}
    centers = {i: float(np.mean([heights[pair] for pair in pairs if pair[0] == i])) for i in (1, 2, 3)}
    line = {"arrowstyle": "-|>", "shrinkA": 12, "shrinkB": 12}
    for (i, j), height in heights.items():
        for document, style in ((i, own), (j, other)):
            axes.annotate("", (3.2, height), (0, centers[document]), arrowprops={**line, **style})
        axes.annotate("", (7.0, centers[i]), (3.2, height), arrowprops={**line, **own})
        _node(axes, 3.2, height, rf"$\sigma_{{{i}{j}}}$", "#FFF3D6")
        if noisy:
            drawn = {**line, **noise, "shrinkA": 1}
            axes.annotate("", (3.2, height), (3.95, height + 0.42), arrowprops=drawn)
            axes.text(4.0, height + 0.42, rf"$Z_{{{j}{i}}}$", fontsize=8, va="center", color=noise["color"])
    for i, height in centers.items():
        _node(axes, 0, height, rf"${symbol}_{i}$", "#DCEBF7")
        _node(axes, 7.0, height, rf"$\hat\pi_{i}$", "#D9F2E6")
    for x, words in ((0, "scores"), (3.2, "sigmoids of\n" + rf"$\eta({symbol}_j - {symbol}_i)$"), (7.0, "ranks")):
        axes.text(x, -0.5, words, ha="center", va="top", fontsize=8, linespacing=1.6)
    axes.set(xlim=(-0.8, 7.8), ylim=(-1.4, 6.3))
    axes.set_title(title, fontsize=9)
    axes.axis("off")


def _node(axes: Any, x: float, y: float, text: str, fill: str) -> None:
    box = {"boxstyle": "circle", "facecolor": fill, "linewidth": 0.6}
    axes.text(x, y, text, ha="center", va="center", fontsize=9, bbox=box)
