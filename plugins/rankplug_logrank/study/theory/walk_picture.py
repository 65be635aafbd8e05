"""Figure 2: the walk over rankings, one good and one bad document changing places at a time.

Everything here is computed from sign matrices, apart from the walks themselves, which are the plugin's.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Results
from rankplug_logrank.study.theory.identities import comes_from_a_ranking

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

GOODS, BADS = 4, 12
FLIPS = 60
Signs = NDArray[np.int64]


class Walk(NamedTuple):
    """The states of one walk."""

    signs: Signs
    """1 where the good document g stands above the bad one b: shape (states, goods, bads)."""
    matches: bool
    """True if the counts that the sampler keeps are those of a ranking in every state."""
    deltas: NDArray[np.float64]
    """Delta_MAP of each state."""


@functools.cache
def walk(best: bool, goods: int = GOODS, bads: int = BADS, flips: int = FLIPS, seed: int = 0) -> Walk:
    """Return one walk of the sampler from the best or the worst ranking."""
    from rankplug_logrank.parameters import RankingSet
    from rankplug_logrank.rankings import sample_rankings

    drawn = RankingSet.model_validate(
        {"gain": "map", "samples": flips + 1, "walk": flips, "p_best": float(best), "distinct": False}
    )
    sample = sample_rankings(np.repeat([1.0, 0.0], [goods, bads]), drawn, seed=seed)
    # The first ranking is the ideal one, which belongs to every set and to no walk.
    bads_above, goods_below = sample.inversions[1:, :goods], -sample.inversions[1:, goods:]
    highest_first = np.argsort(np.argsort(-goods_below, axis=1, kind="stable"), axis=1)
    signs = np.where(highest_first[:, None, :] < bads_above[:, :, None], -1, 1)
    matches = bool(((signs < 0).sum(1) == goods_below).all() and comes_from_a_ranking(signs).all())
    return Walk(signs, matches, sample.deltas[1:])


def flip_chances(signs: Signs, branch: str = "symmetric") -> NDArray[np.float64]:
    """Return alpha of every pair of one ranking, ``(K + 1) / (n+ + n-)``."""
    goods, bads = signs.shape
    bads_below = (signs > 0).sum(1, keepdims=True)
    goods_under_bad = (signs < 0).sum(0, keepdims=True)
    tendency = bads - bads_below + goods_under_bad
    if branch == "symmetric":
        tendency = np.where(signs > 0, tendency, goods + bads - tendency)
    alpha: NDArray[np.float64] = (tendency + 1) / (goods + bads)
    return alpha


def distance_of(signs: Signs) -> NDArray[np.float64]:
    """Return Delta_MAP of rankings."""
    positions = np.arange(signs.shape[1])
    ranks = positions + np.sort((signs < 0).sum(2), axis=1)
    distances: NDArray[np.float64] = 1 - ((1 + positions) / (1 + ranks)).mean(1)
    return distances


@functools.cache
def flip_frame() -> pd.DataFrame:
    """Return the flips that give a ranking again, with sign, alpha in two readings, and the change of Delta_MAP."""
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    for best in (True, False):
        for state, signs in enumerate(walk(best).signs):
            flipped = np.repeat(signs[None], signs.size, axis=0)
            pairs = np.unravel_index(np.arange(signs.size), signs.shape)
            flipped[np.arange(signs.size), *pairs] *= -1
            change = np.abs(distance_of(flipped) - distance_of(signs[None]))
            symmetric, local = (flip_chances(signs, branch)[pairs] for branch in ("symmetric", "local"))
            for pair in np.flatnonzero(comes_from_a_ranking(flipped)):
                facts = (signs[pairs][pair], symmetric[pair], local[pair], change[pair])
                rows.append(("best" if best else "worst", state, *facts))
    columns = ["restart", "state", "sign", "alpha symmetric", "alpha local", "change of Delta"]
    return pd.DataFrame(rows, columns=columns)


def flips_that_leave() -> int:
    """Return how many flips of the first states of two walks make a sign matrix that is no ranking's."""
    count = 0
    for best in (True, False):
        for signs in walk(best).signs:
            flipped = np.repeat(signs[None], signs.size, axis=0)
            flipped[np.arange(signs.size), *np.unravel_index(np.arange(signs.size), signs.shape)] *= -1
            count += int((~comes_from_a_ranking(flipped)).sum())
    return count


def correlation(sign: int, branch: str) -> float:
    """Return Spearman's correlation of alpha and the size of the change."""
    from scipy.stats import spearmanr

    frame = flip_frame()
    frame = frame[frame["sign"] == sign]
    return float(spearmanr(frame[f"alpha {branch}"], frame["change of Delta"]).statistic)


def draw(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw a state with alpha of its pairs, two walks, and alpha against the change that a flip makes."""
    from rankplug.plotting import PALETTE, new_figure

    frame = flip_frame()
    figure, (left, middle, right) = new_figure(3, width=3.4, height=3.0, width_ratios=(1.25, 1, 1))
    _draw_state(left, walk(True).signs[walk(True).deltas.argmax()])
    for best, name, paint in ((True, "best", PALETTE[0]), (False, "worst", PALETTE[3])):
        for seed in range(4):
            label = f"from the {name}" if seed == 0 else None
            middle.plot(walk(best, seed=seed).deltas, color=paint, alpha=0.7, linewidth=1, label=label)
    middle.set(xlabel="flips", ylabel=r"$\Delta_{MAP}$", ylim=(0, 1), title="walks from the two restarts")
    middle.legend(loc="center right", bbox_to_anchor=(1, 0.66), fontsize=8)
    for sign, marker, paint in ((1, "o", PALETTE[2]), (-1, "^", PALETTE[1])):
        rows = frame[frame["sign"] == sign]
        label = f"good document {'above' if sign > 0 else 'below'}"
        right.scatter(
            rows["alpha symmetric"],
            rows["change of Delta"],
            9,
            paint,
            marker=marker,
            alpha=0.5,
            linewidths=0,
            label=label,
        )
    right.set(xlabel=r"$\alpha$ of the flip", ylabel=r"change of $\Delta_{MAP}$", title="what a flip changes")
    right.set_yscale("log")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower right", ncols=2, fontsize=8)
    return frame, figure


def _draw_state(axes: Any, signs: Signs) -> None:
    order = np.argsort(-(signs < 0).sum(0), kind="stable")
    rows = np.argsort((signs < 0).sum(1), kind="stable")
    shown, alpha = signs[rows][:, order], flip_chances(signs)[rows][:, order]
    image = axes.imshow(alpha, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.figure.colorbar(image, ax=axes, label=r"$\alpha$", shrink=0.8)
    for g, b in np.ndindex(*shown.shape):
        shade = "white" if alpha[g, b] > 0.55 else "black"
        axes.text(b, g, "+" if shown[g, b] > 0 else "\u2212", ha="center", va="center", fontsize=8, color=shade)
    axes.set_xticks(range(signs.shape[1]), range(1, signs.shape[1] + 1), fontsize=8)
    axes.set_yticks(range(signs.shape[0]), range(1, signs.shape[0] + 1), fontsize=8)
    axes.grid(False)
    axes.set(xlabel="bad documents, best placed first", ylabel="good documents", title="$y_{gb}$ of one state")
