"""Section 5.2: the noise of a pair, ``Z_ij = G_i - G_j``, is logistic, and pairs that share a document depend on it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Results

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

DRAWS = 20_000
SCALES = (0.25, 1.0, 2.0)
DEVIATION = float(np.pi / np.sqrt(3.0))
"""Standard deviation of a logistic variable of scale 1."""


@functools.cache
def differences(beta: float, law: str = "gumbel") -> NDArray[np.float64]:
    """Return draws of ``Z_12`` and ``Z_23`` by one of the paper's samplers, a row each."""
    from rankplug.samplers import sampler

    # A Gaussian of this scale gives differences of the logistic law's variance.
    scale = beta if law == "gumbel" else beta * DEVIATION / np.sqrt(2.0)
    noisy = sampler(f"{law}[beta={scale},samples={DRAWS}]").draw(np.zeros(3), [0, 3])
    return np.array([noisy[:, 0] - noisy[:, 1], noisy[:, 1] - noisy[:, 2]])


def distance_from_logistic(beta: float, law: str = "gumbel") -> float:
    """Return Kolmogorov and Smirnov's largest difference from the logistic law, times the square root of the draws."""
    from scipy import stats

    result = stats.kstest(differences(beta, law)[0], stats.logistic(scale=beta).cdf)
    return float(result.statistic * np.sqrt(DRAWS))


def correlation(beta: float, independent: bool = False) -> float:
    """Return the correlation of ``Z_12`` and ``Z_23``, or of ``Z_12`` and other draws of it."""
    first, second = differences(beta)
    return float(np.corrcoef(first, np.roll(first, 1) if independent else second)[0, 1])


def draw(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the shares of draws beside the logistic density, for three scales of the noise."""
    import pandas as pd
    from scipy import stats

    from rankplug.plotting import PALETTE, new_figure

    figure, panels = new_figure(len(SCALES), width=2.6, height=2.4)
    rows = []
    for axes, beta in zip(panels, SCALES, strict=True):
        first, _ = differences(beta)
        reach = 8 * beta
        axes.hist(first, np.linspace(-reach, reach, 61), density=True, color=PALETTE[0], alpha=0.5, label="draws")
        grid = np.linspace(-reach, reach, 201)
        axes.plot(grid, stats.logistic(scale=beta).pdf(grid), color="black", linewidth=1, label="Logistic(0, beta)")
        axes.set(title=f"beta = {beta:g}", xlabel=r"$Z_{12} = G_1 - G_2$")
        rows.append(
            {
                "beta": beta,
                "distance from the logistic law": distance_from_logistic(beta),
                "of Gaussian noise": distance_from_logistic(beta, "gaussian"),
                "deviation": float(first.std()),
                "by the law": beta * DEVIATION,
                "correlation of Z12 and Z23": correlation(beta),
            }
        )
    panels[0].set_ylabel("density")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    return pd.DataFrame(rows), figure
