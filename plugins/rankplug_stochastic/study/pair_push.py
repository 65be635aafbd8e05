"""Why an expected loss keeps pushing a correctly ordered pair apart, on two documents.

ApproxNDCG's sigmoids go flat once the better document leads by a few tenths, so nothing is left to learn from the pair.
Under noise the pair is now and then in the wrong order, and the expected gradient stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankplug_stochastic.study.colours import colour_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

GAPS = np.linspace(-1.0, 5.0, 121)


def push(gaps: NDArray[np.float64], loss: str, sampler: str | None) -> NDArray[np.float64]:
    """Return ``|d loss / d s_1|`` of lists of two documents, labels 1 and 0, at some gaps ``s_1 - s_2``."""
    from rankplug.losses import Loss

    scores = np.stack([gaps / 2, -gaps / 2], axis=1).reshape(-1)
    starts = np.arange(0, scores.size + 1, 2)
    found = Loss.named(loss).evaluate(scores, np.tile([1.0, 0.0], gaps.size), starts, sampler=sampler)
    return np.abs(found.gradient[::2])


def push_frame(loss: str = "approx_ndcg[eta=10]", beta: float = 1.0, samples: int = 4000) -> pd.DataFrame:
    """Return the push of a loss and of its expectation, a row for each gap."""
    import pandas as pd

    noise = f"gumbel[beta={beta},samples={samples}]"
    return pd.DataFrame({"gap": GAPS, "plain": push(GAPS, loss, None), "expected": push(GAPS, loss, noise)})


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
