"""Variance of gradients from draw to draw: the paper's estimators beside those of its successors.

Every estimator's mean is another gradient, so its variance is told relative to the square of that mean's length. One
draw is one noisy score vector or one ranking; further figures average several draws, as the paper's eight.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rankplug.losses import loss
from rankplug.registry import parse, registry
from rankplug.studies import Results
from rankplug_stochastic.study.colours import colour_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ESTIMATORS = {
    "E[CrossEntropy]": ("cross_entropy", "gumbel[beta=1.0,samples=1]"),
    "E[ApproxNDCG]": ("approx_ndcg[eta=10.0]", "gumbel[beta=1.0,samples=1]"),
    "PL-Rank-1": ("pl_rank[version=1,samples=1]", None),
    "PL-Rank-2 and -3": ("pl_rank[version=3,samples=1]", None),
    "StochasticRank": ("stochastic_rank[samples=1]", None),
}
"""Losses with one draw each, and their samplers; those whose package is not installed are left out."""
DOCUMENTS, LISTS, DRAWS = 20, 3, 10_000
SPREADS = (0.1, 1.0, 2.0)
"""Standard deviations of the scores: as training begins, on its way, and near its end."""


SEVERAL = (1, 2, 4, 8, 16)
"""Numbers of draws that are averaged; the paper has eight."""
AVERAGES = 2_000
"""Averages whose variance is measured where draws are."""
PAPERS = {name: loss for name, (loss, sampler) in ESTIMATORS.items() if sampler}


@functools.cache
def moments(name: str, sampler: str | None, spread: float, repeats: int = DRAWS) -> tuple[tuple[float, float], ...]:
    """Return a gradient's summed variance and the square of its mean's length, for each of a few lists.

    Args:
        name: of the loss.
        sampler: with as many draws as are averaged in a gradient.
        spread: of the scores.
        repeats: gradients whose moments are taken.
    """
    generator = np.random.default_rng(7)
    found = []
    for _ in range(LISTS):
        labels = generator.choice(5, size=DOCUMENTS, p=(0.5, 0.25, 0.15, 0.07, 0.03)).astype(float)
        labels[:2] = 0, 2
        scores = spread * generator.normal(size=DOCUMENTS)
        bound = loss(name).on(np.tile(labels, repeats), DOCUMENTS * np.arange(repeats + 1), sampler=sampler)
        drawn = bound(np.tile(scores, repeats)).gradient.reshape(repeats, DOCUMENTS)
        variance = float(drawn.var(axis=0, ddof=1).sum())
        # The square of an average is too large by the variance of the average.
        found.append((variance, float((drawn.mean(axis=0) ** 2).sum() - variance / repeats)))
    return tuple(found)


def relative_variance(name: str, sampler: str | None, spread: float) -> float:
    """Return the summed variance of a draw's gradient over its squared mean, averaged over lists; nan if unresolved."""
    of_lists = moments(name, sampler, spread)
    return float(np.mean([variance / square if square > 0 else np.nan for variance, square in of_lists]))


def table(results: Results) -> tuple[pd.DataFrame, None]:
    """Return a row for each estimator, a column for each spread of the scores; the results play no part."""
    installed = {plugin.specification.name for plugin in registry().plugins("loss")}
    rows = [
        {"estimator": label}
        | {f"scores of spread {spread:g}": relative_variance(name, sampler, spread) for spread in SPREADS}
        for label, (name, sampler) in ESTIMATORS.items()
        if parse(name).name in installed
    ]
    return pd.DataFrame(rows), None


def variance_of(loss_name: str, draws: int, spread: float = 1.0) -> float:
    """Return the variance of an expected loss's gradient over some draws of Gumbel noise of scale 1, lists averaged."""
    of_lists = moments(loss_name, f"gumbel[beta=1.0,samples={draws}]", spread, AVERAGES)
    return float(np.mean([variance for variance, _ in of_lists]))


def farthest_from_one_over_draws(repeated: bool = False) -> float:
    """Return the largest relative deviation of ``N Var_N`` from ``Var_1``.

    Args:
        repeated: takes one draw N times, whose average varies as one draw does.
    """
    return max(
        abs(draws * variance_of(loss_name, 1 if repeated else draws) / variance_of(loss_name, 1) - 1)
        for loss_name in PAPERS.values()
        for draws in SEVERAL[1:]
    )


def draw_over_draws(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the relative variance of the paper's estimators over the number of draws, for three spreads of scores."""
    from rankplug.plotting import legend_below, new_figure

    figure, panels = new_figure(len(SPREADS), width=2.6, height=2.4, sharey=True)
    rows = []
    for axes, spread in zip(panels, SPREADS, strict=True):
        for name, loss_name in PAPERS.items():
            of_lists = moments(loss_name, ESTIMATORS[name][1], spread)
            square = float(np.mean([square for _, square in of_lists]))
            found = [variance_of(loss_name, draws, spread) / square for draws in SEVERAL]
            axes.plot(SEVERAL, found, color=colour_of(name), marker="o", markersize=3, label=name)
            rows += [
                {"estimator": name, "scores of spread": spread, "draws": draws, "variance": value}
                for draws, value in zip(SEVERAL, found, strict=True)
            ]
        axes.axhline(1.0, color="#888888", linewidth=0.8)
        axes.set(xscale="log", yscale="log", xlabel="draws, N", title=f"scores of spread {spread:g}")
        axes.set_xticks(SEVERAL, [str(draws) for draws in SEVERAL])
        axes.minorticks_off()
    panels[0].set_ylabel("variance / squared mean")
    legend_below(figure, columns=2)
    return pd.DataFrame(rows), figure
