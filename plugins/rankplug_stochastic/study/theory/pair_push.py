"""Why an expected loss keeps pushing a correctly ordered pair apart, on two documents.

ApproxNDCG's sigmoids go flat once the better document leads by a few tenths, so nothing is left to learn from the pair.
Under noise the pair is now and then in the wrong order, and the expected gradient stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug.studies import Results
from rankplug_stochastic.study.colours import colour_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

GAPS = np.linspace(-1.0, 5.0, 121)
IN_ORDER = 2.0
"""A gap at which the pair is in the right order and ApproxNDCG's sigmoid is flat."""
LOSSES = {"ApproxNDCG": "approx_ndcg[eta=10]", "CrossEntropy": "cross_entropy"}


def push(gaps: NDArray[np.float64], loss: str, sampler: str | None) -> NDArray[np.float64]:
    """Return ``|d loss / d s_1|`` of lists of two documents, labels 1 and 0, at some gaps ``s_1 - s_2``."""
    from rankplug.losses import Loss

    scores = np.stack([gaps / 2, -gaps / 2], axis=1).reshape(-1)
    starts = np.arange(0, scores.size + 1, 2)
    evaluation = Loss.named(loss).evaluate(scores, np.tile([1.0, 0.0], gaps.size), starts, sampler=sampler)
    return np.abs(evaluation.gradient[::2])


def push_frame(loss: str = "approx_ndcg[eta=10]", beta: float = 1.0, samples: int = 4000) -> pd.DataFrame:
    """Return the push of a loss and of its expectation, a row for each gap."""
    import pandas as pd

    noise = f"gumbel[beta={beta},samples={samples}]"
    return pd.DataFrame({"gap": GAPS, "plain": push(GAPS, loss, None), "expected": push(GAPS, loss, noise)})


def growth_of_push(loss: str, gap: float = IN_ORDER) -> float:
    """Return how many times as strongly the expected loss pushes a pair apart as the loss itself, at a gap."""
    at = np.array([gap])
    return float((push(at, loss, "gumbel[beta=1.0,samples=4000]") / push(at, loss, None))[0])


def draw(results: Results | None = None) -> tuple[pd.DataFrame, Figure]:
    """Draw the pushes of both losses of networks and of their expectations over the gap."""
    import pandas as pd

    from rankplug.plotting import new_figure

    figure, panels = new_figure(2, width=3.8, height=2.8)
    frames = []
    for axes, (name, loss) in zip(panels, LOSSES.items(), strict=True):
        frame = push_frame(loss)
        frames.append(frame.assign(loss=name))
        axes.axvspan(0, GAPS[-1], color="#f2f2f2", zorder=0)
        axes.plot(frame["gap"], frame["plain"], color=colour_of(name), label=name)
        axes.plot(frame["gap"], frame["expected"], color=colour_of(f"E[{name}]"), label=f"E[{name}]")
        axes.set(xlabel="score gap of the better document (grey: right order)", ylabel="push apart, |dl/ds|")
        axes.legend(loc="upper right", fontsize=8)
    return pd.concat(frames, ignore_index=True), figure


def draw_push(loss: str = "approx_ndcg[eta=10]", beta: float = 1.0) -> Figure:
    """Draw both pushes over the gap."""
    from rankplug.plotting import new_figure

    frame = push_frame(loss, beta)
    figure, axes = new_figure(width=5.6, height=3.0)
    axes.axvspan(0, GAPS[-1], color="#f2f2f2", zorder=0)
    axes.plot(frame["gap"], frame["plain"], color=colour_of("ApproxNDCG"), label=loss)
    axes.plot(
        frame["gap"], frame["expected"], color=colour_of("E[ApproxNDCG]"), label=f"its expectation, beta = {beta:g}"
    )
    axes.set(xlabel="score gap of the better document (grey: right order)", ylabel="push apart, |dl/ds|")
    axes.legend(loc="upper right")
    return figure
