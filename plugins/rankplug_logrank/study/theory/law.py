"""Two small pictures of the idea: the law of rankings, and the losses of a good document among bad ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankplug_logrank.study.colours import colour_of
from rankplug_logrank.study.theory.identities import LOSSES, comes_from_a_ranking, loss_sums, sign_matrices

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GOOD, BAD = np.array([0.37, 0.26]), np.array([-0.03, -0.38, 0.48])


def draw_law(scale: float = 1.0) -> Figure:
    """Draw the probabilities of the 46 rankings of 2 good and 3 bad documents as the scores grow.

    Args:
        scale: factor on the scores.
    """
    from scipy.special import logsumexp

    from rankplug.plotting import PALETTE, new_figure

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
    from rankplug.plotting import new_figure

    gaps = np.linspace(-2, 2, 81)
    sums = [loss_sums(np.array([gap]), np.zeros(bads)) for gap in gaps]
    figure, axes = new_figure(width=5.2, height=2.8)
    for name, model in LOSSES.items():
        # With one bad document MLE and ExpGain are one curve.
        dashes = (0, (4, 3)) if model == "ExpGain_AUC" else "solid"
        axes.plot(gaps, [losses[name][1] for losses in sums], color=colour_of(model), linestyle=dashes, label=model)
    axes.axvline(0, color="#BBBBBB", linewidth=0.8, zorder=0)
    axes.set(xlabel="lead of the good document", ylabel="loss of the query", ylim=(0, None))
    axes.legend(loc="upper right", fontsize=8)
    return figure
