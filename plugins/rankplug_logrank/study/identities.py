"""The paper's formulas checked by enumeration: closed forms, bounds between the losses, the law of rankings."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from rankplug.losses import Loss, loss
from rankplug.plotting import PALETTE, new_figure
from rankplug.studies import Results
from rankplug_logrank.parameters import RankingSet
from rankplug_logrank.rankings import sample_rankings
from rankplug_logrank.study.protocol import COLOURS, GAINS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Doubles = NDArray[np.float64]
SHAPES = ((1, 3), (2, 2), (2, 3), (3, 3))
"""Good and bad documents of the lists that are tried."""


def sign_matrices(goods: int, bads: int) -> NDArray[np.int64]:
    """Return all sign matrices, 1 where the good document g stands above the bad one b: shape (2^m, goods, bads)."""
    signs = np.array(list(itertools.product((1, -1), repeat=goods * bads)))
    return signs.reshape(-1, goods, bads)


def comes_from_a_ranking(signs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell whether the sets of bad documents below the good ones contain each other.

    >>> [int(comes_from_a_ranking(sign_matrices(*shape)).sum()) for shape in ((2, 2), (2, 3), (3, 3))]
    [14, 46, 230]
    """
    below = signs > 0
    outside: NDArray[np.bool_] = np.any(below[:, :, None, :] & ~below[:, None, :, :], axis=-1)
    crossing: NDArray[np.bool_] = np.any(outside & outside.transpose(0, 2, 1), axis=(1, 2))
    return ~crossing


def identity_sums(t: Doubles) -> dict[str, tuple[Doubles, Doubles]]:
    """Return each identity: the sum over all sign matrices, and the closed form."""
    signs = sign_matrices(*t.shape)
    weights = np.exp((signs * t).sum((1, 2)))
    up = (signs > 0).sum((1, 2))
    product, chances = np.prod(2 * np.cosh(t)), expit(2 * t)
    c = np.exp(1 / t.size)
    with_chances = chances + np.tanh(t) * (chances.sum() - chances)
    return {
        r"Σ e^⟨y,t⟩ = Π": (weights.sum(), product),
        r"Σ #1(y) e^⟨y,t⟩ = Π S": (weights @ up, product * chances.sum()),
        r"Σ y_gb e^⟨y,t⟩ = Π tanh t_gb": (np.tensordot(weights, signs, 1), product * np.tanh(t)),
        r"Σ #1(y) y_gb e^⟨y,t⟩ = Π [σ(2t_gb) + tanh(t_gb) (S − σ(2t_gb))]": (
            np.tensordot(weights * up, signs, 1),
            product * with_chances,
        ),
        r"Σ c^#(−1)(y) e^⟨y,t⟩ = Π_gb (e^t_gb + c e^−t_gb)": (
            weights @ c ** (t.size - up),
            np.prod(np.exp(t) + c * np.exp(-t)),
        ),
    }


def loss_sums(good: Doubles, bad: Doubles, rankings_only: bool = False) -> dict[str, tuple[float, float]]:
    """Return the four losses for AUC: summed over sign matrices, and by the closed form of the plugin."""
    signs = sign_matrices(good.size, bad.size)
    if rankings_only:
        signs = signs[comes_from_a_ranking(signs)]
    exponents = -((1 - signs) * (good[:, None] - bad)).sum((1, 2))
    deltas = (signs < 0).mean((1, 2))
    law = np.exp(exponents - logsumexp(exponents))
    summed = {
        "logrank_mle": logsumexp(exponents),
        "exp_gain": -np.log(law @ (1 - deltas)),
        "logrank_l3": logsumexp(exponents) + law @ deltas,
        "convex_loss": logsumexp(exponents + deltas),
    }
    labels = np.repeat([1.0, 0.0], [good.size, bad.size])
    scores, starts = np.concatenate([good, bad]), [0, good.size + bad.size]
    return {
        name: (float(value), float(loss(name).evaluate(scores, labels, starts).value[0]))
        for name, value in summed.items()
    }


SUMS, OVER_ALL, OVER_RANKINGS = "sums", "over all y", "over rankings"
"""Kinds of identities: the five of Figure 1, and the losses summed over all sign matrices and over rankings only."""
LOSSES = {"logrank_mle": "MLE", "exp_gain": "ExpGain_AUC", "logrank_l3": "L3_AUC", "convex_loss": "Convex_AUC"}


@functools.cache
def identity_frame() -> pd.DataFrame:
    """Return the largest relative error of each identity and loss over lists of several shapes."""
    noise = np.random.default_rng(0)
    rows = []
    for goods, bads in SHAPES:
        pairs: dict[tuple[str, str], tuple[Doubles | float, Doubles | float]] = {
            (SUMS, name): pair for name, pair in identity_sums(noise.normal(size=(goods, bads))).items()
        }
        good, bad = noise.normal(size=goods), noise.normal(size=bads)
        for kind in (OVER_ALL, OVER_RANKINGS):
            of_losses = loss_sums(good, bad, rankings_only=kind == OVER_RANKINGS)
            pairs |= {(kind, f"{LOSSES[name]} {kind}"): pair for name, pair in of_losses.items()}
        for (kind, name), (summed, closed) in pairs.items():
            error = float((np.abs(np.asarray(summed) - closed) / np.abs(closed)).max())
            rows.append({"kind": kind, "identity": name, "list": f"{goods} good, {bads} bad", "relative error": error})
    frame = pd.DataFrame(rows).pivot(index=["kind", "identity"], columns="list", values="relative error")
    return frame.loc[list(pairs)].reset_index()


def largest_error(kind: str) -> float:
    """Return the largest relative error among the identities of a kind."""
    return float(identity_frame().set_index(["kind", "identity"]).loc[kind].to_numpy().max())


def draw_identities(results: Results | None = None) -> tuple[pd.DataFrame, None]:
    """Return the table of identities, with the losses summed over all sign matrices and over rankings only."""
    return identity_frame().drop(columns="kind"), None


LISTS, GOODS, BADS = 60, 3, 7
LABELS = np.tile(np.repeat([1.0, 0.0], [GOODS, BADS]), LISTS)
STARTS = np.arange(0, LABELS.size + 1, GOODS + BADS)
SCALES = (0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0)
RANDOM_LISTS = LISTS * len(SCALES) * len(GAINS)
SAMPLES = 60
MIDPOINTS = 20
SHOWN = ("logrank_mle", "logrank_l2", "logrank_exponential", "logrank_l3", "convex_loss")


def values_of(loss: str, scores: NDArray[np.float64], gain: str) -> NDArray[np.float64]:
    """Return a sampled loss of all lists; for one gain, all losses see the same rankings."""
    drawn = f"{loss}[rankings=sampled,gain={gain},samples={SAMPLES},p_best=0.5]"
    return Loss.named(drawn).evaluate(scores, LABELS, STARTS).value


@functools.cache
def bound_frame() -> pd.DataFrame:
    """Return the objectives and the structured hinge, a row for each gain, scale of the scores and list."""
    noise = np.random.default_rng(0).normal(size=LABELS.size)
    frames = []
    for name, gain in GAINS.items():
        drawn = RankingSet.model_validate({"gain": gain, "samples": SAMPLES, "p_best": 0.5})
        sets = [sample_rankings(LABELS[: STARTS[1]], drawn, query=query) for query in range(LISTS)]
        for scale in SCALES:
            scores = scale * noise
            rows = scores.reshape(LISTS, -1)
            exponents = [sample.deltas - 2 * sample.inversions @ row for sample, row in zip(sets, rows, strict=True)]
            values = {loss: values_of(loss, scores, gain) for loss in SHOWN}
            values |= {"hinge": np.array([exponent.max() for exponent in exponents])}
            values |= {"rankings": np.array([exponent.size for exponent in exponents])}
            frames.append(pd.DataFrame(values).assign(gain=name, scale=scale, list=range(LISTS)))
    frame = pd.concat(frames, ignore_index=True)
    frame["gap"] = frame["convex_loss"] - frame["logrank_l3"]
    return frame


def largest_bend(loss: str) -> float:
    """Return the largest rise of a loss above a chord, half way between random scores; none where it is convex."""
    noise = np.random.default_rng(1)
    worst = -np.inf
    for gain in GAINS.values():
        for _ in range(MIDPOINTS):
            ends = noise.normal(size=(2, LABELS.size)) * noise.choice((0.1, 0.5, 2.0))
            first, second, middle = (values_of(loss, scores, gain) for scores in (*ends, ends.mean(0)))
            worst = max(worst, float((middle - (first + second) / 2).max()))
    return worst


def draw_bounds(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the largest and the mean gap of the lists over the scale of the scores."""
    frame = bound_frame()
    figure, axes = new_figure(width=5.0, height=3.0)
    for paint, gain in zip(PALETTE, GAINS, strict=False):
        gaps = frame[frame["gain"] == gain].groupby("scale")["gap"]
        axes.plot(gaps.max(), color=paint, marker="o", markersize=3, label=f"{gain}, largest of {LISTS} lists")
        axes.plot(gaps.mean(), color=paint, linestyle=(0, (4, 2)), label=f"{gain}, mean")
    axes.axhline(0.125, color="#555555", linewidth=1)
    axes.text(SCALES[-1], 0.122, "bound, 1/8", ha="right", va="top", fontsize=8)
    axes.set_xscale("symlog", linthresh=0.01)
    axes.set_xlim(0, SCALES[-1])
    axes.set(xlabel="standard deviation of the scores", ylabel=r"$L_{Convex} - L_3$ of a query", ylim=(0, 0.135))
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    return frame, figure


GOOD, BAD = np.array([0.37, 0.26]), np.array([-0.03, -0.38, 0.48])


def draw_law(scale: float = 1.0) -> Figure:
    """Draw the probabilities of the 46 rankings of 2 good and 3 bad documents as the scores grow.

    Args:
        scale: factor on the scores.
    """
    signs = sign_matrices(GOOD.size, BAD.size)
    signs = signs[comes_from_a_ranking(signs)]
    exponents = -scale * ((1 - signs) * (GOOD[:, None] - BAD)).sum((1, 2))
    deltas = (signs < 0).mean((1, 2))
    law = np.exp(exponents - logsumexp(exponents))
    likelihood, expected = logsumexp(exponents), law @ deltas
    convex = logsumexp(exponents + deltas)
    figure, axes = new_figure(width=5.6, height=2.8)
    side = np.random.default_rng(0).uniform(-0.03, 0.03, deltas.size)
    axes.scatter(deltas + side, law, 18, PALETTE[0], alpha=0.7, linewidths=0)
    axes.axvline(expected, color=PALETTE[3], linewidth=1.2)
    axes.text(expected + 0.01, 0.95, r"$E[\Delta]$", color=PALETTE[3], fontsize=9, va="top")
    axes.set(
        xlabel=r"$\Delta_{AUC}$ of a ranking (0: ideal)", ylabel="probability", ylim=(-0.02, 1), xlim=(-0.06, 1.06)
    )
    words = rf"$L_1$ = {likelihood:.3f}, $E[\Delta]$ = {expected:.3f}, $L_3$ = {likelihood + expected:.3f}"
    axes.set_title(rf"scores x {scale:g}: {words}, $L_{{Convex}}$ = {convex:.3f}", fontsize=9)
    return figure


def draw_losses(bads: int = 3) -> Figure:
    """Draw the four losses for AUC of one good document among bad ones that score 0.

    Args:
        bads: number of bad documents.
    """
    gaps = np.linspace(-2, 2, 81)
    sums = [loss_sums(np.array([gap]), np.zeros(bads)) for gap in gaps]
    figure, axes = new_figure(width=5.2, height=2.8)
    for name, model in LOSSES.items():
        # With one bad document MLE and ExpGain are one curve.
        dashes = (0, (4, 3)) if model == "ExpGain_AUC" else "solid"
        axes.plot(gaps, [losses[name][1] for losses in sums], color=COLOURS[model], linestyle=dashes, label=model)
    axes.axvline(0, color="#BBBBBB", linewidth=0.8, zorder=0)
    axes.set(xlabel="lead of the good document", ylabel="loss of the query", ylim=(0, None))
    axes.legend(loc="upper right", fontsize=8)
    return figure
