r"""Figure 1: closed forms of sums over sign matrices, checked against sums over all of them.

With ``t_gb`` any numbers, m pairs, :math:`\Pi = \prod 2\cosh t_{gb}` and :math:`S = \sum \sigma(2 t_{gb})`.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Results

if TYPE_CHECKING:
    import pandas as pd

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
    from scipy.special import expit

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
    from scipy.special import logsumexp

    from rankplug.losses import loss

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
    import pandas as pd

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


def draw(results: Results | None = None) -> tuple[pd.DataFrame, None]:
    """Return the table of identities, with the losses summed over all sign matrices and over rankings only."""
    return identity_frame().drop(columns="kind"), None
