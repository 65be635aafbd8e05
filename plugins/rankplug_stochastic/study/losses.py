"""What noise does to the losses: the bound on cross entropy, its best scores, the push on a pair, approximate ranks."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expi, expit, gamma, gammainc, log_softmax, logsumexp

from rankplug.losses import Loss
from rankplug.plotting import PALETTE, legend_below, new_figure
from rankplug.studies import Results
from rankplug_stochastic.study.protocol import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Doubles = NDArray[np.float64]
CLIPS = (1e-2, 1e-3, 1e-6, 1e-10, 1e-14)
LENGTHS = (2, 10, 100)
SPREADS = (0.0, 1.0, 5.0)
DRAWS_OF_BOUND = 4000


def log_mean_exponential(eps: float) -> float:
    """Return ``log E[e^G]`` of Gumbel noise whose uniform draws lie between eps and 1 - eps.

    >>> round(log_mean_exponential(1e-3), 4), round(log_mean_exponential(1e-20), 4)
    (1.8474, 3.8172)
    """
    # The integral of 1 / log(u) is the logarithmic integral, li(u) = Ei(log u).
    return float(np.log((expi(np.log(eps)) - expi(np.log1p(-eps))) / (1 - 2 * eps)))


def mean_root(eps: float) -> float:
    """Return ``E[e^(G/2)]`` of such noise, which has a limit as eps falls: the square root of pi."""
    low, high = -np.log1p(-eps), -np.log(eps)
    return float(gamma(0.5) * (gammainc(0.5, high) - gammainc(0.5, low)) / (1 - 2 * eps))


def cross_entropies(scores: Doubles, labels: Doubles) -> Doubles:
    """Return Equation 8 for each row of scores."""
    losses: Doubles = logsumexp(scores, axis=-1) - scores @ (labels / labels.sum())
    return losses


@functools.cache
def bound_frame() -> pd.DataFrame:
    """Return CrossEntropy, its mean under noise and the bound, for several lengths and score spreads."""
    noise = np.random.default_rng(0)
    rows = []
    for length in LENGTHS:
        labels = np.where(np.arange(length) % 4 == 0, 2.0, np.arange(length) % 2)
        uniform, normal = noise.random((DRAWS_OF_BOUND, length)), noise.normal(size=length)
        for spread in SPREADS:
            scores = spread * normal
            plain = float(cross_entropies(scores[None], labels)[0])
            for eps in CLIPS:
                gumbel = -np.log(-np.log(eps + (1 - 2 * eps) * uniform))
                values = cross_entropies(scores + gumbel, labels)
                about = {"documents": length, "spread of the scores": spread, "eps": eps, "H": plain}
                rows.append({**about, "E[H]": values.mean(), "bound": plain + log_mean_exponential(eps)})
    return pd.DataFrame(rows)


def least_room(share: float = 1.0) -> float:
    """Return the least of the bound less ``E[H]``, with only a share of the constant in the bound."""
    frame = bound_frame()
    bound = frame["H"] + share * (frame["bound"] - frame["H"])
    return float((bound - frame["E[H]"]).min())


def growth_of_the_constant() -> tuple[float, float]:
    """Return ``E[e^G]`` with eps = 1e-100 over that with 1e-10, and the same of ``E[e^(G/2)]``."""
    exponential = np.exp(log_mean_exponential(1e-100) - log_mean_exponential(1e-10))
    return float(exponential), mean_root(1e-100) / mean_root(1e-10)


def largest_move(beta: float = 1.0) -> float:
    """Return how far noise moves the best score gap of two documents at most."""
    return max(abs(best_expected_gap(share, beta) - best_gap(share)) for share in SHARES[1::6])


def least_gap(share_from: float = 0.51) -> float:
    """Return the least best gap under noise where the first document has the larger share of the target."""
    return min(best_expected_gap(share) for share in np.linspace(share_from, 0.99, 9))


def draw_bound(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw how far noise raises CrossEntropy beside the bound over eps, and the best gaps of two documents."""
    frame = bound_frame()
    figure, (left, right) = new_figure(2, width=3.8, height=2.9)
    left.plot(CLIPS, [log_mean_exponential(eps) for eps in CLIPS], color="black", label=r"bound, $\log E[e^G]$")
    equal = frame[frame["spread of the scores"] == 0.0]
    for length, paint in zip(LENGTHS, PALETTE, strict=False):
        rows = equal[equal["documents"] == length]
        left.plot(
            rows["eps"], rows["E[H]"] - rows["H"], color=paint, marker="o", markersize=3, label=f"{length} documents"
        )
    left.set(xscale="log", xlabel=r"$\epsilon$", ylabel="E[H] - H, equal scores")
    left.invert_xaxis()
    shares = SHARES[::7]
    right.plot(shares, [best_gap(share) for share in shares], color=PALETTE[7], label="H")
    right.plot(shares, [best_expected_gap(share) for share in shares], color=PALETTE[5], label="E[H]")
    right.set(xlabel="target share of the first of two", ylabel="best score gap")
    figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    return frame, figure


SHARES = np.linspace(0.5, 0.99, 50)


def best_gap(share: float) -> float:
    """Return the score gap that minimises CrossEntropy.

    >>> round(best_gap(0.9), 4)
    2.1972
    """
    return math.log(share / (1.0 - share))


def best_expected_gap(share: float, beta: float = 1.0) -> float:
    """Return the score gap that minimises the expectation of CrossEntropy under Gumbel noise.

    >>> round(best_expected_gap(0.9), 4)
    3.1888
    """
    from scipy.optimize import brentq
    from scipy.stats import logistic

    noise = np.linspace(-40.0, 40.0, 2001) * max(beta, 1.0)
    density = logistic.pdf(noise, scale=beta)
    density /= density.sum()
    return float(brentq(lambda gap: expit(gap + noise) @ density - share, -1.0, 60.0))


def draw_best_gaps(beta: float = 1.0) -> Figure:
    """Draw both minimisers over the target share."""
    figure, axes = new_figure(width=4.6, height=3.0)
    axes.plot(SHARES, [best_gap(share) for share in SHARES], color=COLOURS["CrossEntropy"], label="CrossEntropy")
    expected = [best_expected_gap(share, beta) for share in SHARES]
    axes.plot(SHARES, expected, color=COLOURS["E[CrossEntropy]"], label="E[CrossEntropy]")
    axes.set(xlabel="target share of the first document", ylabel="best score gap")
    axes.legend(loc="upper left")
    return figure


GAPS = np.linspace(-1.0, 5.0, 121)
IN_ORDER = 2.0
"""A gap at which the pair is in the right order and ApproxNDCG's sigmoid is flat."""
LOSSES = {"ApproxNDCG": "approx_ndcg[eta=10]", "CrossEntropy": "cross_entropy"}


def push(gaps: NDArray[np.float64], loss: str, sampler: str | None) -> NDArray[np.float64]:
    """Return ``|d loss / d s_1|`` of lists of two documents, labels 1 and 0, at some gaps ``s_1 - s_2``."""
    scores = np.stack([gaps / 2, -gaps / 2], axis=1).reshape(-1)
    starts = np.arange(0, scores.size + 1, 2)
    evaluation = Loss.named(loss).evaluate(scores, np.tile([1.0, 0.0], gaps.size), starts, sampler=sampler)
    return np.abs(evaluation.gradient[::2])


def push_frame(loss: str = "approx_ndcg[eta=10]", beta: float = 1.0, samples: int = 4000) -> pd.DataFrame:
    """Return the push of a loss and of its expectation, a row for each gap."""
    noise = f"gumbel[beta={beta},samples={samples}]"
    return pd.DataFrame({"gap": GAPS, "plain": push(GAPS, loss, None), "expected": push(GAPS, loss, noise)})


def growth_of_push(loss: str, gap: float = IN_ORDER) -> float:
    """Return how many times as strongly the expected loss pushes a pair apart as the loss itself, at a gap."""
    at = np.array([gap])
    return float((push(at, loss, "gumbel[beta=1.0,samples=4000]") / push(at, loss, None))[0])


def draw_margins(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the pushes of both losses of networks and of their expectations over the gap."""
    figure, panels = new_figure(2, width=3.8, height=2.8)
    frames = []
    for axes, (name, loss) in zip(panels, LOSSES.items(), strict=True):
        frame = push_frame(loss)
        frames.append(frame.assign(loss=name))
        axes.axvspan(0, GAPS[-1], color="#f2f2f2", zorder=0)
        axes.plot(frame["gap"], frame["plain"], color=COLOURS[name], label=name)
        axes.plot(frame["gap"], frame["expected"], color=COLOURS[f"E[{name}]"], label=f"E[{name}]")
        axes.set(xlabel="score gap of the better document (grey: right order)", ylabel="push apart, |dl/ds|")
        axes.legend(loc="upper right", fontsize=8)
    return pd.concat(frames, ignore_index=True), figure


def draw_push(loss: str = "approx_ndcg[eta=10]", beta: float = 1.0) -> Figure:
    """Draw both pushes over the gap."""
    frame = push_frame(loss, beta)
    figure, axes = new_figure(width=5.6, height=3.0)
    axes.axvspan(0, GAPS[-1], color="#f2f2f2", zorder=0)
    axes.plot(frame["gap"], frame["plain"], color=COLOURS["ApproxNDCG"], label=loss)
    axes.plot(
        frame["gap"], frame["expected"], color=COLOURS["E[ApproxNDCG]"], label=f"its expectation, beta = {beta:g}"
    )
    axes.set(xlabel="score gap of the better document (grey: right order)", ylabel="push apart, |dl/ds|")
    axes.legend(loc="upper right")
    return figure


SCORES = (0.4, 0.1, -0.3)
DRAWS = 1000
"""Colour of what a document's own score, or its sigmoids, go to."""


def ranks_of_scores(scores: NDArray[np.float64], eta: float = 1.0) -> NDArray[np.float64]:
    """Return smooth ranks (Eq. 18), one row a list: ``1 + sum_j sigma(eta (s_j - s_i))`` over the others."""
    return ranks_of_gaps(scores[:, None, :] - scores[:, :, None], eta)


def ranks_of_gaps(gaps: NDArray[np.float64], eta: float = 1.0) -> NDArray[np.float64]:
    """Return the smooth ranks from the sigmoids' inputs; ``gaps[list, i, j]`` is how far document j is above i."""
    others = ~np.eye(gaps.shape[-1], dtype=bool)
    ranks: NDArray[np.float64] = 1.0 + (expit(eta * gaps) * others).sum(axis=-1)
    return ranks


def both_ways(eta: float = 1.0, draws: int = DRAWS, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ranks (a) from sampled log-probabilities and (b) from raw scores with noise in the sigmoids."""
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


def draw_ranks(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the two constructions side by side, with the numbers of one draw."""
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
