r"""Equations 9 to 14: what noise does to CrossEntropy's value, and the bound on it.

With uniform draws between eps and 1 - eps, ``E[e^G]`` is a constant that grows without end as eps falls; without
clipping it does not exist. Then ``H <= E[H] <= H + log E[e^G]``.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Results
from rankplug_stochastic.study.theory.best_gap import SHARES, best_expected_gap, best_gap

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Doubles = NDArray[np.float64]
CLIPS = (1e-2, 1e-3, 1e-6, 1e-10, 1e-14)
LENGTHS = (2, 10, 100)
SPREADS = (0.0, 1.0, 5.0)
DRAWS = 4000


def log_mean_exponential(eps: float) -> float:
    """Return ``log E[e^G]`` of Gumbel noise whose uniform draws lie between eps and 1 - eps.

    >>> round(log_mean_exponential(1e-3), 4), round(log_mean_exponential(1e-20), 4)
    (1.8474, 3.8172)
    """
    from scipy.special import expi

    # The integral of 1 / log(u) is the logarithmic integral, li(u) = Ei(log u).
    return float(np.log((expi(np.log(eps)) - expi(np.log1p(-eps))) / (1 - 2 * eps)))


def mean_root(eps: float) -> float:
    """Return ``E[e^(G/2)]`` of such noise, which has a limit as eps falls: the square root of pi."""
    from scipy.special import gamma, gammainc

    low, high = -np.log1p(-eps), -np.log(eps)
    return float(gamma(0.5) * (gammainc(0.5, high) - gammainc(0.5, low)) / (1 - 2 * eps))


def cross_entropies(scores: Doubles, labels: Doubles) -> Doubles:
    """Return Equation 8 for each row of scores."""
    from scipy.special import logsumexp

    losses: Doubles = logsumexp(scores, axis=-1) - scores @ (labels / labels.sum())
    return losses


@functools.cache
def bound_frame() -> pd.DataFrame:
    """Return CrossEntropy, its mean under noise and the bound, for several lengths and score spreads."""
    import pandas as pd

    noise = np.random.default_rng(0)
    rows = []
    for length in LENGTHS:
        labels = np.where(np.arange(length) % 4 == 0, 2.0, np.arange(length) % 2)
        uniform, normal = noise.random((DRAWS, length)), noise.normal(size=length)
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


def draw(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw how far noise raises CrossEntropy beside the bound over eps, and the best gaps of two documents."""
    from rankplug.plotting import PALETTE, new_figure

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
