"""Effect of noise on CrossEntropy's minimiser: the same order, a larger scale.

For two documents of which the first has the target share p, CrossEntropy is least at a score gap of log(p / (1 - p)).
Its expectation is least where ``E[sigma(gap + Z)] = p`` with logistic Z, which lies farther out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rankplug_stochastic.study.colours import colour_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    from scipy.special import expit
    from scipy.stats import logistic

    noise = np.linspace(-40.0, 40.0, 2001) * max(beta, 1.0)
    density = logistic.pdf(noise, scale=beta)
    density /= density.sum()
    return float(brentq(lambda gap: expit(gap + noise) @ density - share, -1.0, 60.0))


def draw_best_gaps(beta: float = 1.0) -> Figure:
    """Draw both minimisers over the target share."""
    from rankplug.plotting import new_figure

    figure, axes = new_figure(width=4.6, height=3.0)
    axes.plot(SHARES, [best_gap(share) for share in SHARES], color=colour_of("CrossEntropy"), label="CrossEntropy")
    expected = [best_expected_gap(share, beta) for share in SHARES]
    axes.plot(SHARES, expected, color=colour_of("E[CrossEntropy]"), label="E[CrossEntropy]")
    axes.set(xlabel="target share of the first document", ylabel="best score gap")
    axes.legend(loc="upper left")
    return figure
