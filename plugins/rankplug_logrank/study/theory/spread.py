"""Figure 7: how far from the ideal ranking the sampled ones lie, by where the walks restart."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Results
from rankplug_logrank.study.protocol import GAINS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

GOODS, BADS = 4, 40
LABELS = np.repeat([1.0, 0.0], [GOODS, BADS])
RESTARTS = {"best": "0", "middle": "about 0.5", "worst": "1"}
WALKS, FLIPS = 10, 40
SEEDS = 10


def sampled_distances(
    gain: str, restart: str = "best", *, seed: int = 0, walk: int = FLIPS, p_best: float | None = None
) -> NDArray[np.float64]:
    """Return Delta of every state of the walks on a list of 4 good and 40 bad documents.

    Args:
        gain: which Delta.
        restart: where walks begin: ``best``, ``middle`` or ``worst``.
        seed: of the walks.
        walk: flips after each restart.
        p_best: share of restarts at the best ranking, in place of ``restart``.
    """
    from rankplug_logrank.parameters import RankingSet
    from rankplug_logrank.rankings import sample_rankings

    share = p_best if p_best is not None else float(restart != "worst")
    drawn = RankingSet.model_validate(
        {
            "gain": gain,
            "samples": WALKS * (walk + 1),
            "walk": walk,
            "p_best": share,
            "restart_at": 0.5 if restart == "middle" and p_best is None else None,
            "distinct": False,
        }
    )
    # The first ranking is the ideal one, which belongs to every set and to no walk.
    return sample_rankings(LABELS, drawn, seed=seed).deltas[1:]


@functools.cache
def spread_frame() -> pd.DataFrame:
    """Return gain, restart, seed and Delta, a row for each sampled ranking."""
    import pandas as pd

    frames = [
        pd.DataFrame(
            {"gain": name, "restart": restart, "seed": seed, "Delta": sampled_distances(gain, restart, seed=seed)}
        )
        for name, gain in GAINS.items()
        for restart in RESTARTS
        for seed in range(SEEDS)
    ]
    return pd.concat(frames, ignore_index=True)


def deviations() -> pd.DataFrame:
    """Return the standard deviation of Delta: a row for each gain and seed, a column for each restart."""
    return spread_frame().groupby(["gain", "seed", "restart"])["Delta"].std().unstack("restart")


def draw(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw histograms, a row of panels for each gain, a column for each restart."""
    from rankplug.plotting import PALETTE, new_figure

    frame = spread_frame()
    spreads = deviations().groupby("gain").mean()
    figure, panels = new_figure(len(RESTARTS), len(GAINS), width=2.5, height=1.7, sharex=True, sharey="row")
    bins = np.linspace(0, 1, 41)
    for row, gain in enumerate(GAINS):
        for column, (restart, words) in enumerate(RESTARTS.items()):
            axes = panels[row][column]
            values = frame[(frame["gain"] == gain) & (frame["restart"] == restart)]["Delta"]
            axes.hist(values, bins, weights=np.full(len(values), 100 / len(values)), color=PALETTE[row])
            text = f"deviation {float(spreads[restart][gain]):.3f}"
            side = (0.03, "left") if restart == "worst" else (0.97, "right")
            axes.text(side[0], 0.9, text, transform=axes.transAxes, ha=side[1], va="top", fontsize=8)
            if row == 0:
                axes.set_title(rf"restarts at $\Delta$ = {words}", fontsize=9)
        panels[row][0].set_ylabel(f"{gain}\nshare of rankings (%)", fontsize=8)
    for axes in panels[-1]:
        axes.set_xlabel(r"$\Delta$ of sampled rankings")
    return frame, figure


def draw_sample(p_best: float = 0.9, walk: int = 20, gain: str = "map") -> Figure:
    """Draw a histogram for any mix of restarts and length of walks."""
    from rankplug.plotting import PALETTE, new_figure

    values = sampled_distances(gain, p_best=p_best, walk=walk)
    figure, axes = new_figure(width=5.4, height=2.6)
    axes.hist(values, np.linspace(0, 1, 41), weights=np.full(values.size, 100 / values.size), color=PALETTE[0])
    axes.set(xlabel=rf"$\Delta$ ({gain.upper()}) of sampled rankings", ylabel="share (%)", ylim=(0, 100))
    axes.set_title(f"{p_best:.0%} of restarts at the best ranking, walks of {walk} flips", fontsize=9)
    return figure
