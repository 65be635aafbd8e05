"""Inequalities between the objectives, checked on random lists of the sampled losses.

With Delta between 0 and 1, Hoeffding's lemma gives ``0 <= ConvexLoss - L3 <= 1/8``: the two nearly coincide.
"""

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

LISTS, GOODS, BADS = 60, 3, 7
LABELS = np.tile(np.repeat([1.0, 0.0], [GOODS, BADS]), LISTS)
STARTS = np.arange(0, LABELS.size + 1, GOODS + BADS)
SCALES = (0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0)
SAMPLES = 60
MIDPOINTS = 20
SHOWN = ("logrank_mle", "logrank_l2", "logrank_exponential", "logrank_l3", "convex_loss")


def values_of(loss: str, scores: NDArray[np.float64], gain: str) -> NDArray[np.float64]:
    """Return a sampled loss of all lists; for one gain, all losses see the same rankings."""
    from rankplug.losses import Loss

    drawn = f"{loss}[rankings=sampled,gain={gain},samples={SAMPLES},p_best=0.5]"
    return Loss.named(drawn).evaluate(scores, LABELS, STARTS).value


@functools.cache
def bound_frame() -> pd.DataFrame:
    """Return the objectives and the structured hinge, a row for each gain, scale of the scores and list."""
    import pandas as pd

    from rankplug_logrank.parameters import RankingSet
    from rankplug_logrank.rankings import sample_rankings

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


def draw(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the largest and the mean gap of the lists over the scale of the scores."""
    from rankplug.plotting import PALETTE, new_figure

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
